import { execFile } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { conformance, LONG } from "./conformance-run.ts";
import { FLINT } from "./server.ts";

/** This very command, as the server that is tried. */
const SELF = [process.execPath, FLINT];

describe("flint conformance", () => {
  test("a report has sentences under headings, and ends with the totals", async () => {
    const line = `${process.execPath} ${FLINT} harness`;
    const ran = await conformance([
      line,
      "--protocol",
      "harness",
      "--offline-model",
      "--only",
      "unknown method",
    ]);
    expect(
      ran.stdout.replace(/\d+\.\d s/, "1.0 s").replace(/^Testing .* against the harness protocol\n/, ""),
    ).toBe(
      "\nHandshake and bad input\n  ok           an unknown method is refused with -32601\n" +
        "\n1 passed, 0 failed, 0 not offered (1.0 s)\n",
    );
  });
});

describe("flint conformance on a server with errors", () => {
  test("reports what was sent and received, and exits with 1", async () => {
    const { path } = await temporaryFolder();
    const server = `${path}/wrong.mjs`;
    await writeFile(
      server,
      'process.stdin.on("data", (data) => { for (const line of String(data).trim().split("\\n")) ' +
        "console.log(JSON.stringify({ id: JSON.parse(line).id, result: { wrong: true } })); });\n",
    );
    const args = ["--protocol", "codex", "--timeout", "5", "--only", "second initialize"];
    const ran = await conformance([...args, "--", process.execPath, server]);
    expect(ran.code).toBe(1);
    expect(ran.stdout).toContain("  FAILED       a second initialize is refused with -32600");
    expect(ran.stdout).toContain('sent {"id":2,"method":"initialize"');
    expect(ran.stdout).toContain('came {"id":2,"result":{"wrong":true}}');
    expect(ran.stdout).toMatch(/\n0 passed, 1 failed, 0 not offered \(.*s\)\n$/);
  });

  test("a token that others can read, on disk or in transit, is not sent", async () => {
    const { path } = await temporaryFolder();
    const token = `${path}/token`;
    await writeFile(token, "a-token-of-forty-three-characters-and-a-bit\n", { mode: 0o600 });
    const tried = (address: string) => conformance([address, "--protocol", "codex", "--token-file", token]);
    const elsewhere = await tried("ws://flint.invalid:4747");
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("the token in clear") });
    await chmod(token, 0o644);
    const shared = await tried("ws://127.0.0.1:9");
    expect(shared).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Other users can read the token"),
    });
  });

  test("a server that is missing, does not start or is not given is one clear error", async () => {
    const unreachable = await conformance(["ws://127.0.0.1:9", "--protocol", "codex"]);
    expect(unreachable).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be reached") });
    const missing = await conformance(["no-such-program-anywhere", "--protocol", "acp"]);
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no-such-program-anywhere"),
    });
    expect(await conformance(["--protocol", "codex"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("conformance needs a server"),
    });
    expect(await conformance(["x", "--protocol", "front"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("flint, harness, codex, or acp"),
    });
    expect(await conformance(["x", "--protocol", "codex", "--timeout", "soon"])).toMatchObject({ code: 2 });
    expect(await conformance([...SELF.slice(0, 1), "--protocol", "codex", "--only", "zebra"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('"zebra"'),
    });
  });
});

test(
  "testing a program of its own leaves no thread in the user's list",
  async () => {
    const { path: home } = await temporaryFolder();
    const words = [...SELF, "serve", "--stdio", "--offline"];
    const { code } = await conformance(
      ["--protocol", "flint", "--only", "thread/start answers", "--", ...words],
      { FLINT_HOME: home },
    );
    expect(code).toBe(0);
    const listed = await promisify(execFile)(process.execPath, [FLINT, "threads", "list", "--json"], {
      env: { ...process.env, ...plainEnvironment(home) },
    });
    expect(JSON.parse(listed.stdout)).toEqual([]);
  },
  LONG,
);
