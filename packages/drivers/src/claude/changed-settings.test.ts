import { join } from "node:path";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ThreadSettings } from "@flint/protocol";
import { leavesNoProcess, RecordingTurn, temporaryFolder, writeFakeAgent } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { sessionSpec, testSettings } from "../testing/session-spec.ts";
import { ClaudeDriver } from "./driver.ts";
import { BEGIN, DONE, message, WELCOME } from "./testing/fake-frames.ts";

/** Runs a turn, then one with the change, and resolves with the number of processes that were started for both. */
async function processesOf(change: Partial<ThreadSettings>): Promise<number> {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const command = await writeFakeAgent(path, [
    ...WELCOME,
    { forever: [...BEGIN, message("Started with {{argv}}"), ...DONE] },
  ]);
  const environment = { CLAUDE_CONFIG_DIR: join(path, "config") };
  let starts = 0;
  const real = new CommandSandbox({ environment: process.env });
  const driver = new ClaudeDriver({ program: async () => ({ command, environment }), version: "0.0.0" });
  onTestFinished(async () => driver.close?.());
  const settings = testSettings("claude/default", path, { sandboxPolicy: { type: "dangerFullAccess" } });
  const sandbox: Pick<CommandSandbox, "state" | "launch" | "start"> = {
    state: (...given) => real.state(...given),
    launch: (...given) => real.launch(...given),
    start: (spec) => {
      starts += 1;
      return real.start({ ...spec, policy: { type: "dangerFullAccess" } });
    },
  };
  const session = await driver.open(sessionSpec(settings, sandbox));
  onTestFinished(() => session.close());
  for (const changed of [{}, change]) {
    const turn = new RecordingTurn({ text: "hello", settings: { ...settings, ...changed } });
    expect(await session.run(turn)).toEqual({ status: "completed" });
    turn.end();
  }
  return starts;
}

test("a turn with the same settings runs in the same process", async () => {
  expect(await processesOf({})).toBe(1);
});

test.each<[string, Partial<ThreadSettings>]>([
  ["working directory", { cwd: "/" }],
  ["sandbox", { sandboxPolicy: { type: "externalSandbox" } }],
  ["instructions", { developerInstructions: "Be brief." }],
])("a turn with another %s runs in another process", async (_, change) => {
  expect(await processesOf(change)).toBe(2);
});
