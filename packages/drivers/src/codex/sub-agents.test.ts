import { existsSync } from "node:fs";
import { join } from "node:path";
import { lifecycleFaults, needs, RecordingTurn } from "@flint/testkit";
import { expect } from "vitest";
import { codexFixture, run } from "./testing/codex-fixture.ts";

const real = needs("codex");

const LARGE = { usage: { inputTokens: 50_000, outputTokens: 10 } };

/** The agent starts a sub-agent, which runs one command; `waits`: the agent waits for it. */
function delegating(waits: boolean) {
  const spawn = { task_name: "lamp", message: "greet the lamp", fork_turns: "none" };
  const command = "text(JSON.stringify(await tools.exec_command({cmd:'touch greeted'})))";
  const wait = { when: "delegate", parts: [{ call: "wait_agent", input: { timeout_ms: 15_000 } }] };
  return [
    { when: "delegate", parts: [{ call: "spawn_agent", input: spawn }] },
    ...(waits ? [wait] : []),
    { when: "delegate", parts: [{ text: "All is done." }] },
    [LARGE, { call: "exec", raw: command }],
    [{ text: "The lamp is greeted." }],
  ];
}

for (const waits of [true, false]) {
  real(`shows, counts and asks for the work of a sub-agent; the agent waits for it: ${waits}`, async () => {
    const { open, settings, cwd } = await codexFixture(delegating(waits));
    const { turn, outcome } = await run(await open(), { text: "delegate", settings });
    expect(outcome).toEqual({ status: "completed" });
    const spawned = turn.completedItems.find((item) => item.type === "toolCall" && "subAgent" in item);
    expect(spawned).toMatchObject({ tool: "spawn_agent", title: "lamp", status: "completed" });
    const inner = turn.completedItems.find(({ type }) => type === "commandExecution");
    expect(inner).toMatchObject({
      command: "touch greeted",
      status: "completed",
      parentItemId: spawned?.id,
    });
    expect(turn.actions).toMatchObject([{ kind: "command", command: "touch greeted", itemId: inner?.id }]);
    expect(existsSync(join(cwd, "greeted"))).toBe(true);
    const said = turn.completedItems.filter(({ type }) => /[mM]essage$/.test(type));
    expect(said).toContainEqual(
      expect.objectContaining({
        type: "subAgentMessage",
        text: "The lamp is greeted.",
        parentItemId: spawned?.id,
      }),
    );
    expect(said.filter(({ type }) => type === "agentMessage")).toMatchObject([{ text: "All is done." }]);
    const usages = turn.events.flatMap((event) => (event.type === "usage" ? [event] : []));
    const ofSubAgent = usages.filter(({ parentItemId }) => parentItemId === spawned?.id);
    expect(ofSubAgent.map(({ last }) => last.inputTokens)).toContain(50_000);
    expect(lifecycleFaults(turn.events, true)).toEqual([]);
  });
}

real("a declined command of a sub-agent is not run", async () => {
  const { open, settings, cwd } = await codexFixture(delegating(true));
  const decide = () => ({ outcome: "deny", scope: "once" }) as const;
  const { turn } = await run(await open(), { text: "delegate", settings, decide });
  expect(turn.completedItems.find(({ type }) => type === "commandExecution")).toMatchObject({
    status: "declined",
  });
  expect(existsSync(join(cwd, "greeted"))).toBe(false);
});

real("stopping the turn stops its sub-agents", async () => {
  const { open, settings, cwd } = await codexFixture(delegating(false));
  const session = await open();
  const turn = new RecordingTurn({ text: "delegate", settings, decide: () => undefined });
  const outcome = session.run(turn);
  await turn.waitFor((event) => event.type === "item/completed" && event.item.type === "agentMessage");
  turn.stop();
  expect(await outcome).toEqual({ status: "interrupted" });
  expect(existsSync(join(cwd, "greeted"))).toBe(false);
});
