import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Gate, needs, Relay } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { addToFleet as add, setUpFleet, untilInFleet as until } from "../testing/fleet-fixture.ts";

const fleetTest = needs("redis", "bwrap", "git");

/** The names of the events of a task. */
async function namesOf({ client }: Awaited<ReturnType<typeof setUpFleet>>, taskId: string) {
  return (await client.call("task/read", { taskId })).events.map(({ type }) => type);
}

/** A fleet whose first worker is behind a network that can be cut, and stops at the gate in its turn. */
async function setUpRelay() {
  const gate = new Gate();
  const worked: string[] = [];
  const fleet = await setUpFleet((name, _prompt, folder) => {
    worked.push(name);
    writeFileSync(join(folder, "b.txt"), `${name}\n`);
    return name === "w1" ? [{ wait: gate }, { text: "done" }] : [{ text: "done" }];
  });
  const socket = fleet.fleet.redis.replace("unix:", "");
  const relay = await Relay.open(fleet.home.join("relay.sock"), socket);
  onTestFinished(() => relay.close());
  return { ...fleet, gate, relay, worked };
}

describe("a worker that takes a task over", () => {
  fleetTest("does not repeat a turn whose end the lost worker committed and could not report", async () => {
    const fleet = await setUpRelay();
    const { client, cwd, git, gate, relay, worked, startWorker } = fleet;
    const lost = await startWorker("w1", { redis: relay.url });
    const id = await add(client, cwd, { checks: [{ command: "grep w1 b.txt" }] });
    await gate.reached;
    relay.cut("silent");
    gate.open();
    await expect
      .poll(() => git("for-each-ref", `refs/flint/tasks/${id}/a1/r1`), { timeout: 10_000 })
      .not.toBe("");
    await startWorker("w2");
    const task = await until(client, id, "approving", "failed", "asking");
    expect(task, JSON.stringify(task.ask)).toMatchObject({ phase: "approving", thread: { worker: "w1" } });
    expect(worked).toEqual(["w1"]);
    expect(await git("show", `${task.result?.commit}:b.txt`)).toBe("w1");
    expect(await namesOf(fleet, id)).toContain("run/lost");
    // The late report of the lost worker changes nothing.
    relay.mend();
    await lost.drain(0);
    expect((await namesOf(fleet, id)).filter((type) => type === "round/executed")).toHaveLength(1);
  });

  fleetTest(
    "does a turn again that was not committed, and ignores what the lost worker does then",
    async () => {
      const fleet = await setUpRelay();
      const { client, cwd, git, gate, relay, worked, startWorker } = fleet;
      const lost = await startWorker("w1", { redis: relay.url });
      const id = await add(client, cwd);
      await gate.reached;
      relay.cut("silent");
      await startWorker("w2");
      const task = await until(client, id, "approving", "failed", "asking");
      gate.open();
      relay.mend();
      await lost.drain(0);
      expect(worked).toEqual(["w1", "w2"]);
      expect(await git("show", `${task.result?.commit}:b.txt`)).toBe("w2");
      expect(await namesOf(fleet, id)).toContain("run/lost");
    },
  );

  fleetTest("works on what others did since it had the task, in a folder that is set up", async () => {
    const gates = new Map([
      ["w1", new Gate()],
      ["w2", new Gate()],
    ]);
    const seen: string[] = [];
    let turns = 0;
    const { client, cwd, git, startWorker } = await setUpFleet((name, prompt, folder) => {
      // The context is compacted before the third round.
      if (prompt === "") return [];
      const gate = gates.get(name);
      // Each worker is drained in its second turn.
      if (gate !== undefined && seen.includes(name)) return [{ wait: gate }];
      seen.push(name);
      turns += 1;
      expect(existsSync(join(folder, "ready.txt"))).toBe(true);
      writeFileSync(join(folder, `r${turns}.txt`), `${name}\n`);
      return [{ text: "done" }];
    });
    const first = await startWorker("w1");
    const id = await add(client, cwd, {
      setup: { command: "date +%N > ready.txt" },
      checks: [{ command: "test -f ready.txt && test -f r1.txt && test -f r2.txt && test -f r3.txt" }],
      rounds: 5,
    });
    await gates.get("w1")?.reached;
    await first.drain(0);
    const second = await startWorker("w2");
    await gates.get("w2")?.reached;
    await second.drain(0);
    gates.clear();
    await startWorker("w1");
    const task = await until(client, id, "approving", "failed", "asking");
    expect(task, JSON.stringify(task.ask)).toMatchObject({ phase: "approving" });
    expect(seen).toEqual(["w1", "w2", "w1"]);
    const files = await git("ls-tree", "--name-only", task.result?.commit ?? "");
    expect(files.split("\n")).toEqual(["a.txt", "r1.txt", "r2.txt", "r3.txt", "ready.txt"]);
  });
});
