import { execFile } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { agentProgram, needs, ProcessGuard, temporaryFolder } from "@flint/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { plainEnvironment } from "../server/plain-environment.ts";
import { conformance, LONG, notPassed, PORT, type Ran, recorded, run } from "./conformance-run.ts";
import { FLINT } from "./server.ts";

/** This very command, as the server that is tried. */
const SELF = [process.execPath, FLINT];

/** In what the Codex front end differs from Codex on purpose, or because another agent works behind it. */
const ACCEPTED = [
  // A command that is cut off by an interruption is completed here; Codex leaves its item open.
  /but came item\/completed commandExecution \(/,
  // A steered message is sent at once; Codex sends it with the next model request.
  /but came item\/started userMessage \(/,
  // Flint's agent answers also to an empty prompt, and asks its model in other steps for a review.
  /“a turn without any input runs and ends”/,
  /“review\/start answers with a turn, which enters and leaves the review mode”/,
];

/** Tries the Codex front end as a server with a token, against what was recorded of Codex. */
async function tryCodexFrontend(): Promise<Ran> {
  const { path, remove } = await temporaryFolder();
  const [token, schemas] = [`${path}/token`, `${path}/schemas`];
  await writeFile(token, "a-token-of-forty-three-characters-and-a-bit\n", { mode: 0o600 });
  const serve = [...SELF, "serve", "--listen", PORT, "--protocol", "codex", "--alone", "--token-file", token];
  const flags = ["--protocol", "codex", "--offline-model", "--json", "--token-file", token];
  const compare = ["--compare", recorded("codex-answers.json")];
  const codex = agentProgram("codex");
  const generate = ["app-server", "generate-json-schema", "--experimental", "--out", schemas];
  if (codex !== undefined) await promisify(execFile)(codex, generate);
  const more = codex === undefined ? [] : ["--schemas", schemas];
  return run([...flags, ...compare, ...more, "--", ...serve]).finally(remove);
}

/** What was found and is not accepted, line by line. */
function beyond(accepted: readonly RegExp[], found: readonly string[]): string[] {
  return found
    .flatMap((text) => text.split("\n"))
    .map((line) => line.replace(/^failed: the server says the same in the same order as in [^:]*: /, ""))
    .filter((line) => !accepted.some((pattern) => pattern.test(line)));
}

describe("flint conformance on Flint itself", () => {
  test("the Flint front end passes every check, also with several clients", async () => {
    const serve = [...SELF, "serve", "--listen", "unix:{socket}", "--protocol", "flint", "--alone"];
    const ran = await conformance(["--protocol", "flint", "--offline-model", "--json", "--", ...serve]);
    expect(notPassed(ran)).toEqual([]);
    expect(ran.code).toBe(0);
  }, 120_000);

  test("the harness front end passes every check", async () => {
    const ran = await conformance([
      "--protocol",
      "harness",
      "--offline-model",
      "--json",
      "--",
      ...SELF,
      "harness",
    ]);
    expect(notPassed(ran)).toEqual([]);
    expect(ran.code).toBe(0);
  }, 120_000);

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

describe("flint conformance on the front ends for third-party clients", () => {
  describe("the Codex front end, over a WebSocket with a token", () => {
    // One run, because it takes long.
    let ran: Ran;
    beforeAll(async () => {
      const guard = new ProcessGuard();
      ran = await tryCodexFrontend().finally(() => guard.release());
    }, LONG);

    test("behaves as Codex does, except for what is listed here", () => {
      const found = notPassed(ran).filter((line) => !line.includes("fits the schemas"));
      expect(beyond(ACCEPTED, found)).toEqual([]);
    });

    needs("codex")("sends only messages that match the schemas of Codex", () => {
      const ofSchemas = notPassed(ran).filter((line) => line.includes("fits the schemas"));
      expect(ofSchemas).toEqual([]);
      expect(ran.stdout).toContain("every message in this run matches the schemas");
    });
  });

  test("the ACP front end passes every check on stdin and stdout", async () => {
    const ran = await conformance(["--protocol", "acp", "--offline-model", "--json", "--", ...SELF, "acp"]);
    expect(notPassed(ran)).toEqual([]);
    expect(ran.code).toBe(0);
  }, 120_000);
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
