import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { realClaude, run } from "./testing/claude-fixture.ts";

const real = needs("claude");

real("lists a command that Claude runs in the background by its item, and stops it", async () => {
  const input = { command: "sleep 4713", run_in_background: true };
  const fixture = await realClaude({ script: [[{ call: "Bash", input }], [{ text: "It runs." }]] });
  const { session, turn, outcome } = await run(fixture, "start it");
  expect(outcome).toEqual({ status: "completed" });
  const [item] = turn.completedItems;
  const commands = (await session.backgroundCommands?.()) ?? [];
  expect(commands).toMatchObject([{ command: "sleep 4713", itemId: item?.id }]);
  expect(item?._meta).toEqual({ background: commands[0]?.processId });
  expect(session.isBusy?.()).toBe(true);
  expect(await session.stopBackgroundCommand?.(commands[0]?.processId ?? "")).toBe(true);
  expect(await session.stopBackgroundCommand?.(commands[0]?.processId ?? "")).toBe(false);
  expect([await session.backgroundCommands?.(), session.isBusy?.()]).toEqual([[], false]);
});
