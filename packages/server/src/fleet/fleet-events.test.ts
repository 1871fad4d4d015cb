import { Gate, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { addToFleet, newsOf, setUpFleet, untilInFleet, writesFile } from "../testing/fleet-fixture.ts";

const fleetTest = needs("redis", "bwrap", "git");
const APPROVES = JSON.stringify({ verdict: "approve", summary: "fine", findings: [], earlier: [] });

describe("the events of a fleet", () => {
  fleetTest("tell of each turn of its tasks, with where its role stands [S2-52] [S2-65]", async () => {
    const { client, cwd, startWorker, fleet } = await setUpFleet((_name, _text, folder) =>
      writesFile(folder),
    );
    const id = await addToFleet(client, cwd);
    await startWorker("w1");
    await untilInFleet(client, id, "approving", "failed", "asking");
    const news = await newsOf(fleet.redis);
    const turns = news.filter(({ type }) => type === "task:turn");
    expect(turns.map(({ status }) => status)).toEqual(["started", "completed"]);
    const { thread } = (await client.call("task/read", { taskId: id })).task;
    const context = {
      ...{ thread_id: thread?.threadId, thread_status: expect.stringMatching(/^(active|idle)$/) },
      ...{ last_turn_event_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) },
      ...{ owner_role: "executor", model: "alpha/steady", provider: "anthropic", has_active_steer: false },
      ...{ run_id: expect.stringMatching(/^[0-9a-f]{10}$/), turn_sequence: 1 },
    };
    for (const each of news) {
      const active_turn_id = each.type === "task:turn" && each.status === "completed" ? null : thread?.turnId;
      expect(each).toMatchObject({ id, plan_id: id });
      if (each.type !== "task:thread_status")
        expect(each.extra.thread_context).toEqual({ ...context, active_turn_id });
    }
  });

  fleetTest("tell of a thread that is resumed, and of agents that take over a role", async () => {
    let reviews = 0;
    const { client, cwd, startWorker, fleet } = await setUpFleet((_name, text, folder) => {
      if (!text.includes("verdict")) return writesFile(folder);
      reviews += 1;
      return reviews === 1 ? [{ fail: { message: "It is broken." } }] : [{ text: APPROVES }];
    });
    const reviewers = [{ model: "alpha/steady" }, { model: "alpha/swift" }];
    const id = await addToFleet(client, cwd, { reviewers });
    await startWorker("w1");
    const { thread } = await untilInFleet(client, id, "approving", "failed", "asking");
    const fallbacks = (await newsOf(fleet.redis)).filter(({ type }) => type === "task:execution_fallback");
    const { events } = await client.call("task/read", { taskId: id });
    const took = { fallback_model: "alpha/swift", reason: "It is broken." };
    expect(fallbacks, JSON.stringify(events)).toMatchObject([
      { status: "retrying", ...took, thread_context: { owner_role: "reviewer", model: "alpha/steady" } },
      { status: "started", ...took, thread_context: { owner_role: "reviewer", model: "alpha/swift" } },
    ]);
    expect(fallbacks[1]?.fallback_thread_id).not.toBe(fallbacks[1]?.failed_thread_id);
    await client.call("task/reject", { taskId: id, comments: "More" });
    await untilInFleet(client, id, "approving", "failed", "asking");
    const resumed = (await newsOf(fleet.redis)).filter(
      ({ type, thread_id }) => type === "task:thread_status" && thread_id === thread?.threadId,
    );
    expect(resumed).toContainEqual(expect.objectContaining({ old_status: "notLoaded", new_status: "idle" }));
  });

  fleetTest("have their last ones when a worker drains, in the stream that was chosen", async () => {
    const gate = new Gate();
    const { client, cwd, startWorker, fleet } = await setUpFleet(() => [{ wait: gate }]);
    const worker = await startWorker("w1", { events: { stream: "my:events" } });
    await addToFleet(client, cwd);
    await gate.reached;
    await worker.drain(0);
    const news = await newsOf(fleet.redis, "my:events");
    expect(news.filter(({ type }) => type === "task:turn").at(-1)).toMatchObject({
      status: "completed",
      turn_status: "interrupted",
    });
    expect(await newsOf(fleet.redis)).toEqual([]);
  });
});
