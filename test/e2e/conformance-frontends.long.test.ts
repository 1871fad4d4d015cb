import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { agentProgram, needs, ProcessGuard, temporaryFolder } from "@flint/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { conformance, LONG, notPassed, PORT, type Ran, recorded, run } from "./conformance-run.ts";
import { FLINT } from "./server.ts";

/** This very command, as the server that is tested. */
const SELF = [process.execPath, FLINT];

/** Differences of the Codex front end from Codex, on purpose or because another agent works behind it. */
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

/** Returns the problems that are not accepted, line by line. */
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
