import { mkdir, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { programFiles, type ServerProgram } from "./program-files.ts";

/** The files of a program, relative to the workspace that agents can write. */
async function filesOf(
  program: ServerProgram,
  names: readonly string[],
): Promise<readonly string[] | string> {
  const workspace = await temporaryFolder();
  for (const name of names) {
    await mkdir(dirname(workspace.join(name)), { recursive: true });
    await writeFile(workspace.join(name), "");
  }
  const place = { cwd: workspace.path, roots: [workspace.path], findProgram: async () => undefined };
  const found = await programFiles(program, place);
  return "problem" in found
    ? found.problem
    : found.files.map((file) => relative(workspace.path, file)).sort();
}

describe("the files of a program that agents can write", () => {
  test.each<[string, ServerProgram, string]>([
    ["a script without its ending", { command: "node", args: ["server"] }, "server.js"],
    ["a module of Python", { command: "python3", args: ["-m", "server"] }, "server.py"],
    ["a module in a package", { command: "python3", args: ["-m", "tools.server"] }, "tools/server.py"],
    ["a script that bun runs", { command: "bun", args: ["server.ts"] }, "server.ts"],
    ["a script that bun runs", { command: "bun", args: ["run", "./server.ts"] }, "server.ts"],
    ["the settings of a package runner", { command: "npx", args: ["-y", "some-server"] }, ".npmrc"],
    ["the settings of bun", { command: "bunx", args: ["some-server"] }, "bunfig.toml"],
    ["the settings of bun", { command: "bun", args: ["/opt/server.ts"] }, "bunfig.toml"],
    [
      "a file that a variable makes Node load",
      { command: "node", args: ["-e", "0"], env: { NODE_OPTIONS: "--require ./hook.cjs" } },
      "hook.cjs",
    ],
    [
      "a library that a variable makes the linker load",
      { command: "/usr/bin/tool", args: [], env: { LD_PRELOAD: "./lib/hook.so" } },
      "lib/hook.so",
    ],
    [
      "a folder that Python imports from",
      { command: "python3", args: ["/opt/server.py"], env: { PYTHONPATH: "/opt/lib:./lib" } },
      "lib/json.py",
    ],
  ])("include %s", async (_name, program, file) => {
    expect(await filesOf(program, [file])).toEqual([file]);
  });

  test("cannot be known if the project calls a file of its own by the name of the program", async () => {
    const workspace = await temporaryFolder();
    const place = { cwd: workspace.path, roots: [workspace.path], findProgram: async () => undefined };
    const found = async (manifest: object) => {
      await writeFile(workspace.join("package.json"), JSON.stringify(manifest));
      return programFiles({ command: "npx", args: ["-y", "some-server@1"] }, place);
    };
    const problem = { problem: expect.stringContaining("npx runs whatever package.json says") };
    expect(await found({ name: "p", bin: { "some-server": "evil.js" } })).toEqual(problem);
    expect(await found({ name: "some-server", bin: "evil.js" })).toEqual(problem);
    expect(await found({ name: "p", bin: { other: "other.js" } })).toEqual({ files: [] });
  });

  test("do not include data that a variable or an argument names", async () => {
    const program = { command: "/usr/bin/tool", args: ["data/notes.txt"], env: { ROOT: "data" } };
    expect(await filesOf(program, ["data/notes.txt"])).toEqual([]);
  });
});
