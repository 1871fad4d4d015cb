import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { code, codexFixture, run } from "./testing/codex-fixture.ts";

const real = needs("codex");

real("lists a command that Codex left running, stays busy with it, and stops it", async () => {
  const call = { cmd: "sleep 4712", yield_time_ms: 500 };
  const { open, settings, cwd } = await codexFixture(code(`tools.exec_command(${JSON.stringify(call)})`));
  const session = await open();
  const { turn, outcome } = await run(session, { text: "go", settings });
  expect(outcome).toEqual({ status: "completed" });
  const [item] = turn.events.flatMap((event) => (event.type === "item/started" ? [event.item] : []));
  const commands = (await session.backgroundCommands?.()) ?? [];
  expect(commands).toEqual([
    { processId: expect.any(String), command: expect.stringContaining("sleep 4712"), cwd, itemId: item?.id },
  ]);
  expect(session.isBusy?.()).toBe(true);
  expect(await session.stopBackgroundCommand?.(commands[0]?.processId ?? "")).toBe(true);
  expect(await session.backgroundCommands?.()).toEqual([]);
  expect(session.isBusy?.()).toBe(false);
});
