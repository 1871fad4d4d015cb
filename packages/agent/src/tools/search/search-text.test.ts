import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import type { LaunchSpec, Sandbox } from "@flint/core/ports";
import { CommandSandbox } from "@flint/host/sandbox";
import { leavesNoProcess, needs, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/recorded-turn.ts";
import { LineMatcher } from "./builtin-search.ts";
import { SEARCH_TEXT } from "./search-text.ts";

async function project() {
  const folder = await temporaryFolder();
  mkdirSync(folder.join("src"));
  mkdirSync(folder.join("node_modules"));
  writeFileSync(folder.join(".gitignore"), "ignored\n");
  writeFileSync(folder.join("ignored"), "needle\n");
  writeFileSync(folder.join("node_modules", "x"), "needle\n");
  writeFileSync(folder.join("src", "a.ts"), "one\nconst Needle = 1;\r\n");
  writeFileSync(folder.join("b.md"), "a needle\nnone\n");
  writeFileSync(folder.join("binary"), Buffer.from("needle\0"));
  return folder;
}

test("searches file by file without ripgrep", async () => {
  const folder = await project();
  const search = async (input: Record<string, unknown>) => (await callTool(SEARCH_TEXT, input, folder)).text;
  expect(await search({ pattern: "needle" })).toBe("b.md:1: a needle");
  expect(await search({ pattern: "n[e]{2}dle\\b", ignore_case: true })).toBe(
    "b.md:1: a needle\nsrc/a.ts:2: const Needle = 1;",
  );
  expect(await search({ pattern: "Needle", glob: "*.ts" })).toBe("src/a.ts:2: const Needle = 1;");
  expect(await search({ pattern: "Needle", path: "src" })).toBe("src/a.ts:2: const Needle = 1;");
  expect(await search({ pattern: "needle", path: "b.md" })).toBe("b.md:1: a needle");
  expect(await search({ pattern: "nothing like it" })).toBe("(Nothing found.)");
  expect(await search({ pattern: "(" })).toBe('"(" is not a regular expression.');
  expect(await search({ pattern: "x", path: "missing" })).toBe("missing does not exist.");
});

test("does not follow links out of the folder", async () => {
  const folder = await project();
  const outside = await temporaryFolder();
  writeFileSync(outside.join("secret"), "needle\n");
  symlinkSync(outside.path, folder.join("link"));
  symlinkSync(outside.join("secret"), folder.join("file"));
  expect((await callTool(SEARCH_TEXT, { pattern: "needle" }, folder)).text).toBe("b.md:1: a needle");
});

test("limits results and makes control characters visible", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "hit\n".repeat(5000));
  const { text } = await callTool(SEARCH_TEXT, { pattern: "hit" }, folder);
  expect(text.split("\n")).toHaveLength(201);
  expect(text).toContain("(stopped after 200 lines; narrow the search)");
  writeFileSync(folder.join("a"), `hit \u001b[31m ${"x".repeat(1000)}\n`);
  const odd = await callTool(SEARCH_TEXT, { pattern: "hit" }, folder);
  expect(odd.text).toMatch(/^a:1: hit ␛\[31m x+ …$/);
});

test("stops a pattern that takes forever, at once if interrupted", async () => {
  const content = `${"a".repeat(40)}!\n`;
  const { signal } = new AbortController();
  const slow = new LineMatcher("(a+)+$", false, 300, signal);
  expect(await slow.find(content)).toBe("late");
  await slow.close();
  const stop = new AbortController();
  const stopped = new LineMatcher("(a+)+$", false, 60_000, stop.signal);
  const found = stopped.find(content);
  stop.abort();
  expect(await found).toBe("late");
  await stopped.close();
});

test("runs ripgrep in a read-only sandbox with the model's input after a double dash", async () => {
  const folder = await temporaryFolder();
  const launched: LaunchSpec[] = [];
  const sandbox: Sandbox = {
    state: async () => ({ available: true, mechanism: "test" }),
    start: () => Promise.reject(new Error("not here")),
    launch: async (spec) => {
      launched.push(spec);
      spec.onOutput(`${folder.path}/src/a.ts\u00003:const x = 1;\n${folder.path}/b\u000010:x: y\n`, "stdout");
      return { exitCode: 0, durationMs: 1, ended: "exited" };
    },
  };
  const input = { pattern: "--pre=sh", glob: "--follow", ignore_case: true };
  const { text } = await callTool(SEARCH_TEXT, input, folder, {
    sandbox,
    settings: { sandboxPolicy: { type: "dangerFullAccess" } },
  });
  expect(text).toBe("src/a.ts:3: const x = 1;\nb:10: x: y");
  const [spec] = launched;
  expect(spec).toMatchObject({ policy: { type: "readOnly" }, workspace: folder.path, cwd: folder.path });
  expect(spec?.command.slice(-4)).toEqual(["--glob=--follow", "--", "--pre=sh", folder.path]);
  expect(spec?.command.slice(0, 2)).toEqual(["rg", "--no-config"]);
  expect(spec?.command.filter((word) => word.startsWith("--pre"))).toEqual(["--pre=sh"]);
});

needs("namespaces")("runs rg and reports its errors", async () => {
  leavesNoProcess();
  const folder = await temporaryFolder();
  const script = '#!/bin/sh\ntouch made 2>/dev/null\necho "regex parse error" >&2\nexit 2\n';
  writeFileSync(folder.join("rg"), script);
  chmodSync(folder.join("rg"), 0o755);
  const environment = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
  const sandbox = new CommandSandbox({ environment });
  const { text, status } = await callTool(SEARCH_TEXT, { pattern: "x" }, folder, { sandbox });
  expect([status, text]).toEqual(["failed", "regex parse error"]);
  const listed = await callTool(SEARCH_TEXT, { pattern: "touch" }, folder);
  expect(listed.text).toContain("rg:2: touch made");
});
