import { existsSync, readFileSync } from "node:fs";
import type { Decision } from "@flint/protocol";
import { agentFolder, needs, RecordingTurn } from "@flint/testkit";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { code, codexFixture, run } from "./testing/codex-fixture.ts";

const test = needs("codex");
const DECLINE: Decision = { outcome: "deny", scope: "once", message: "Not that." };

// Codex's shell is a login shell. The start-up files of the user who runs the tests may wait for a lock, as pyenv's do.
beforeEach(async () => void vi.stubEnv("HOME", (await agentFolder()).path));
afterEach(() => void vi.unstubAllEnvs());

/** A script in which the model runs this outside of the sandbox. */
function escalated(cmd: string) {
  const call = { cmd, sandbox_permissions: "require_escalated", justification: "I have to." };
  return code(`tools.exec_command(${JSON.stringify(call)})`);
}

/** A command that can only succeed outside, in a folder that exists for one test. */
const OUTSIDE = 'echo run >> ../count && echo "it\'s" made';

test("a command that is allowed to leave the sandbox runs once outside of it, and is shown as it was asked", async () => {
  const { open, settings, outside } = await codexFixture(escalated(OUTSIDE));
  const { turn, outcome } = await run(await open(), { text: "go", settings });
  expect(outcome).toEqual({ status: "completed" });
  expect(turn.actions).toMatchObject([
    { kind: "command", command: OUTSIDE, needs: { unconfined: true }, reason: "I have to." },
  ]);
  const [item] = turn.completedItems;
  expect(item).toMatchObject({
    type: "commandExecution",
    command: OUTSIDE,
    status: "completed",
    exitCode: 0,
  });
  expect(item).toMatchObject({ aggregatedOutput: expect.stringMatching(/it's made\n$/) });
  expect(readFileSync(`${outside}/count`, "utf8")).toBe("run\n");
  expect(JSON.stringify(turn.events)).not.toContain("/run/flint");
});

test("a command that may not leave the sandbox does not run at all, and looks declined", async () => {
  const { open, settings, outside, cwd } = await codexFixture(escalated(`touch here; ${OUTSIDE}`));
  const { turn } = await run(await open(), { text: "go", settings, decide: () => DECLINE });
  expect(turn.actions).toHaveLength(1);
  expect(turn.completedItems[0]).toMatchObject({ type: "commandExecution", status: "declined" });
  expect([existsSync(`${outside}/count`), existsSync(`${cwd}/here`)]).toEqual([false, false]);
});

test("a command that asks for nothing runs once in the sandbox", async () => {
  const call = { cmd: `echo run >> count; ${OUTSIDE}` };
  const { open, settings, outside, cwd } = await codexFixture(
    code(`tools.exec_command(${JSON.stringify(call)})`),
  );
  const { turn } = await run(await open(), { text: "go", settings });
  expect(turn.actions).toEqual([expect.objectContaining({ command: call.cmd })]);
  expect(turn.actions[0]?.needs).toBeUndefined();
  expect([existsSync(`${outside}/count`), readFileSync(`${cwd}/count`, "utf8")]).toEqual([false, "run\n"]);
  expect(turn.completedItems[0]).toMatchObject({ command: call.cmd, status: "failed" });
});

test("an interrupt ends what runs outside of the sandbox", async () => {
  const { open, settings, cwd } = await codexFixture(escalated("touch begun; tail -f /dev/null; touch late"));
  const session = await open();
  const turn = new RecordingTurn({ text: "go", settings });
  const running = session.run(turn);
  await expect.poll(() => existsSync(`${cwd}/begun`), { timeout: 15_000 }).toBe(true);
  turn.stop();
  expect(await running).toEqual({ status: "interrupted" });
  turn.end();
  expect(existsSync(`${cwd}/late`)).toBe(false);
});
