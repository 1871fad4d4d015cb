import { join } from "node:path";
import {
  agentFolder,
  type FakeStep,
  HOSTILE_AGENTS,
  leavesNoProcess,
  needs,
  RecordingTurn,
  realSandbox,
  writeFakeAgent,
} from "@flint/testkit";
import { expect } from "vitest";
import { sessionSpec, testSettings } from "../testing/session-spec.ts";
import { ClaudeDriver } from "./driver.ts";
import { BEGIN, message, WELCOME } from "./testing/fake-frames.ts";

const test = needs("bwrap");

/** Runs a turn of a fake Claude that ends like this. Its process is confined like a real one. */
async function run(end: readonly FakeStep[]) {
  leavesNoProcess();
  const folder = await agentFolder();
  const command = await writeFakeAgent(folder.path, [...WELCOME, ...BEGIN, message("Well."), ...end]);
  const program = { command, environment: { CLAUDE_CONFIG_DIR: join(folder.path, "config") } };
  const driver = new ClaudeDriver({ program: async () => program, version: "0.0.0" }, undefined, folder.path);
  const settings = testSettings("claude/default", folder.path);
  const session = await driver.open(sessionSpec(settings, realSandbox()));
  const turn = new RecordingTurn({ text: "hello", settings });
  const outcome = await session.run(turn).finally(() => turn.end());
  await session.close();
  return { turn, outcome };
}

const UNREADABLE = {
  "lacks its fields": '{"type":"result","subtype":7}',
  "is cut off": '{"type":"result","subtype":"success","is_err',
  "has its type further on": '{"subtype":"success","is_error":false,"type":"result","result":[1',
};

for (const [what, raw] of Object.entries(UNREADABLE))
  test(`a result that ${what} fails the turn at once, with the reason [S4-25]`, async () => {
    const { turn, outcome } = await run([{ raw }, { hang: true }]);
    expect(outcome).toMatchObject({
      status: "failed",
      error: { errorInfo: "AgentFailed", message: expect.stringContaining("cannot read") },
    });
    expect(turn.late).toEqual([]);
  });

test("a Claude that closes its output in its sandbox and lives is stopped within seconds [S4-25]", async () => {
  const startedAt = performance.now();
  const { outcome } = await run(HOSTILE_AGENTS["closes its output and stays"]);
  expect(outcome).toMatchObject({
    status: "failed",
    error: { message: expect.stringContaining("closed its output") },
  });
  expect(performance.now() - startedAt).toBeLessThan(30_000);
});
