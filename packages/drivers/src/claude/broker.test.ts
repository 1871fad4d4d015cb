import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Decision } from "@flint/protocol";
import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { realClaude, run, turnOf } from "./testing/claude-fixture.ts";

const test = needs("claude");
const DECLINE: Decision = { outcome: "deny", scope: "once", message: "Not that." };
const bash = (command: string, more: object = {}) => [{ call: "Bash", input: { command, ...more } }];
const DONE = [{ text: "Done." }];
const OUTSIDE = { dangerouslyDisableSandbox: true };

const outsideOf = (folder: string) => join(dirname(folder), "outside");

test("a command that is allowed to leave the sandbox runs once outside of it, and is shown as it was asked", async () => {
  const fixture = await realClaude({
    script: ({ workspace }) => [
      bash(`mkdir ${outsideOf(workspace)}; echo run >> ${outsideOf(workspace)}/count; echo made`, OUTSIDE),
      DONE,
    ],
  });
  const { turn, outcome } = await run(fixture, "go");
  expect(outcome).toEqual({ status: "completed" });
  const outside = outsideOf(fixture.workspace);
  const command = `mkdir ${outside}; echo run >> ${outside}/count; echo made`;
  expect(turn.actions).toMatchObject([{ kind: "command", command, needs: { unconfined: true } }]);
  expect(turn.completedItems[0]).toMatchObject({
    ...{ type: "commandExecution", command, status: "completed", exitCode: 0, aggregatedOutput: "made" },
  });
  expect(await readFile(join(outside, "count"), "utf8")).toBe("run\n");
  expect(JSON.stringify(turn.events)).not.toContain("flint-run");
});

test("a command that may not leave the sandbox does not run at all, and looks declined", async () => {
  const fixture = await realClaude({
    script: ({ workspace }) => [bash(`touch here ${outsideOf(workspace)}`, OUTSIDE), DONE],
  });
  const { turn } = await run(fixture, "go", { decide: () => DECLINE });
  expect(turn.completedItems[0]).toMatchObject({ type: "commandExecution", status: "declined" });
  expect(existsSync(join(fixture.workspace, "here"))).toBe(false);
});

test("an interrupt ends what runs outside of the sandbox", async () => {
  const fixture = await realClaude({
    script: ({ workspace }) => [
      bash(`touch ${workspace}/begun; tail -f /dev/null; touch ${workspace}/late`, OUTSIDE),
      DONE,
    ],
  });
  const session = await fixture.open();
  const turn = turnOf(fixture, "go");
  const running = session.run(turn);
  await expect.poll(() => existsSync(join(fixture.workspace, "begun")), { timeout: 15_000 }).toBe(true);
  turn.stop();
  expect(await running).toEqual({ status: "interrupted" });
  turn.end();
  expect(existsSync(join(fixture.workspace, "late"))).toBe(false);
});
