import type { TaskEvent } from "@flint/protocol";
import { describe, expect, onTestFinished, test } from "vitest";
import { event } from "../decide/decision.ts";
import { MemoryStore } from "../store/memory-store.ts";
import type { Lease } from "../store/task-store.ts";
import { testSpec } from "../testing/spec.ts";
import { context } from "../testing/task.ts";
import { TaskScheduler } from "./scheduler.ts";
import { TaskService } from "./task-service.ts";
import { TaskWorker } from "./worker.ts";

const LEASE_MS = 30_000;

/** A scheduler and a worker on one store; `ran` resolves with the number of the first task that runs. */
function setUp(persist?: (task: string, events: readonly TaskEvent[]) => void) {
  let now = 1_800_000_000_000;
  const store = new MemoryStore({ now: () => now, persist });
  const problems: string[] = [];
  const onProblem = (problem: string) => void problems.push(problem);
  const scheduler = new TaskScheduler({
    ...{ store, leaseMs: LEASE_MS, onProblem },
    context: () => ({ ...context, now }),
    onRecovery: () => {
      recoveries += 1;
      worker?.wake();
    },
  });
  let recoveries = 0;
  let started: (number: number) => void = () => undefined;
  const ran = new Promise<number>((resolve) => {
    started = resolve;
  });
  onTestFinished(() => scheduler.stop());
  let worker: TaskWorker | undefined;
  const runs: { readonly number: number; readonly lease: Lease }[] = [];
  const start = () => {
    worker = new TaskWorker({
      ...{ store, name: "w", concurrency: 2, leaseMs: LEASE_MS, now: () => now, onProblem },
      run: (lease, state, signal) =>
        new Promise((resolve) => {
          runs.push({ number: state.number, lease });
          started(state.number);
          signal.addEventListener("abort", () => resolve(), { once: true });
        }),
    });
    onTestFinished(() => worker?.stop());
    scheduler.wake();
    worker.wake();
    return worker;
  };
  const add = () => store.add({ spec: testSpec(), by: "ann", waiting: false });
  const recovered = () => recoveries;
  return { store, scheduler, start, ran, runs, add, problems, recovered, jump: (by: number) => (now += by) };
}

test("a scheduler wakes the worker for a limit that was over before it looked", async () => {
  const { scheduler, recovered } = setUp();
  scheduler.watchRecovery();
  await scheduler.settled();
  expect(recovered()).toBe(1);
  scheduler.wake();
  await scheduler.settled();
  expect(recovered()).toBe(1);
});

describe("a worker", () => {
  test("takes a task whose last worker was killed, as soon as its run counts as lost", async () => {
    const { store, start, ran, add, jump } = setUp();
    const { id } = await add();
    await store.lease(id, "killed", LEASE_MS);
    jump(LEASE_MS + 1);
    start();
    expect(await ran).toBe(1);
    const types = (await store.events(id)).map(({ type }) => type);
    expect(types).toEqual(["task/added", "run/leased", "run/lost", "run/leased"]);
  });

  test("takes one task after the other from a backlog, each in one run", async () => {
    const { store, scheduler, add } = setUp();
    const numbers = [1, 2, 3, 4, 5, 6];
    for (const _ of numbers) await add();
    const worker = new TaskWorker({
      ...{ store, name: "w", concurrency: 2, leaseMs: LEASE_MS, now: () => context.now },
      onProblem: (problem) => expect.unreachable(problem),
      run: async (lease) => {
        // As long as a sweep that is under way.
        await new Promise(setImmediate);
        const expected = (await store.read(lease.task))?.version ?? 0;
        const events = [{ type: "task/ended", data: { status: "done" } }] as const;
        await store.commit({ task: lease.task, expect: expected, lease, events });
      },
    });
    onTestFinished(() => worker.stop());
    scheduler.wake();
    worker.wake();
    await expect.poll(async () => (await store.list()).every(({ phase }) => phase === "done")).toBe(true);
    const logs = (await store.list()).map(async ({ id }) => (await store.events(id)).map(({ type }) => type));
    expect(await Promise.all(logs)).toEqual(numbers.map(() => ["task/added", "run/leased", "task/ended"]));
  });

  test("reports a full disk and continues when there is space", async () => {
    let isFull = false;
    const { start, ran, add, problems } = setUp(() => {
      if (isFull) throw new Error("ENOSPC: no space left on device");
    });
    await add();
    isFull = true;
    const worker = start();
    await expect.poll(() => problems).toContainEqual(expect.stringContaining("no space left"));
    isFull = false;
    worker.wake();
    expect(await ran).toBe(1);
  });
});

describe("tasks that a usage limit keeps waiting", () => {
  /** A task that sleeps at its limit, and two that wait for it. */
  async function atLimit() {
    const setup = setUp();
    const sleeps = await setup.add();
    const suspended = event("task/suspended", { reason: "usageLimit", untilMs: context.now + 3_600_000 });
    await setup.store.commit({ task: sleeps.id, expect: sleeps.version, events: [suspended] });
    await setup.add();
    await setup.add();
    setup.start();
    await expect.poll(() => setup.scheduler.isWaiting).toBe(true);
    return { ...setup, sleeps };
  }

  test("start when it is over, also if the task that met it was cancelled", async () => {
    const { store, scheduler, ran, jump, sleeps } = await atLimit();
    const { version } = (await store.read(sleeps.id)) ?? sleeps;
    await store.commit({
      task: sleeps.id,
      expect: version,
      events: [event("task/cancelled", { by: "ann" })],
    });
    await scheduler.settled();
    expect([scheduler.isWaiting, (await store.list()).map(({ phase }) => phase)]).toEqual([
      true,
      ["cancelled", "ready", "ready"],
    ]);
    jump(7_200_000);
    scheduler.wake();
    expect(await ran).toBe(2);
  });

  test("start as soon as a first turn has got through, while its run goes on", async () => {
    const { store, scheduler, runs, jump } = await atLimit();
    jump(7_200_000);
    scheduler.wake();
    await expect.poll(() => runs.map(({ number }) => number)).toEqual([1]);
    const [first] = runs;
    const state = first === undefined ? undefined : await store.read(first.lease.task);
    if (first === undefined || state === undefined) throw new Error("Nothing runs");
    const started = { round: 1, executor: 0, clientId: "c" };
    const executed = {
      turn: { threadId: "t" },
      commit: null,
      tree: null,
      contested: [],
      usage: { seconds: 1 },
    };
    await store.commit({
      ...{ task: state.id, expect: state.version, lease: first.lease },
      events: [event("round/started", started), event("round/executed", executed)],
    });
    await expect.poll(() => runs.map(({ number }) => number)).toEqual([1, 2]);
  });
});

describe("a service", () => {
  test("adds tasks that come after each other without waiting for the disk in between", async () => {
    const store = new MemoryStore({ now: Date.now });
    const add = store.add.bind(store);
    let written = 0;
    let sync: () => void = () => undefined;
    const synced = new Promise<void>((resolve) => {
      sync = resolve;
    });
    store.add = async (task) => {
      const state = await add(task);
      written += 1;
      // Nothing counts before the disk has all of it.
      if (written === 3) sync();
      await synced;
      return state;
    };
    // Nothing runs, so these are not used.
    const unused = undefined as never;
    const service = new TaskService({
      ...{
        store,
        workspaces: unused,
        client: unused,
        now: Date.now,
        concurrency: 0,
        onProblem: () => undefined,
      },
    });
    onTestFinished(() => service.close());
    const tasks = [{ name: "c", after: ["b"] }, { name: "a" }, { name: "b", after: ["a"] }].map((given) => ({
      ...{ ...given, prompt: given.name, cwd: "/repo" },
    }));
    const { data } = await service.call("task/add", { tasks }, "ann");
    expect(data.map(({ title, phase }) => [title, phase])).toEqual([
      ["a", "ready"],
      ["b", "waiting"],
      ["c", "waiting"],
    ]);
    const states = await Promise.all(data.map(({ id }) => store.read(id)));
    expect(states.map((state) => state?.spec.after)).toEqual([[], [data[0]?.id], [data[1]?.id]]);
  });
});

describe("a scheduler", () => {
  test("has a timer only while a task is due later", async () => {
    const { store, scheduler, add } = setUp();
    const { id, version } = await add();
    const ask = { id: "a", reason: "question" as const, message: "?" };
    await store.commit({ task: id, expect: version, events: [{ type: "task/asking", data: { ask } }] });
    await expect.poll(() => scheduler.isWaiting).toBe(false);
    const sleeps = await add();
    const untilMs = 1_800_000_000_000 + 7_200_000;
    await store.commit({
      ...{ task: sleeps.id, expect: sleeps.version },
      events: [{ type: "task/suspended", data: { reason: "usageLimit", untilMs } }],
    });
    await expect.poll(() => scheduler.isWaiting).toBe(true);
  });

  test("continues what is due when the clock jumps, and counts a run that overslept as lost", async () => {
    const { store, scheduler, add, jump } = setUp();
    const sleeps = await add();
    const untilMs = 1_800_000_000_000 + 7_200_000;
    await store.commit({
      ...{ task: sleeps.id, expect: sleeps.version },
      events: [{ type: "task/suspended", data: { reason: "usageLimit", untilMs } }],
    });
    const runs = await add();
    await store.lease(runs.id, "elsewhere", LEASE_MS);
    jump(86_400_000);
    scheduler.wake();
    const resumed = async () => (await store.events(sleeps.id)).some(({ type }) => type === "task/resumed");
    const lost = async () => (await store.events(runs.id)).some(({ type }) => type === "run/lost");
    await expect.poll(async () => [await resumed(), await lost()]).toEqual([true, true]);
  });
});
