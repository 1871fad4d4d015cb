import { afterEach, describe, expect, test, vi } from "vitest";
import { MemoryStore } from "../store/memory-store.ts";
import { testSpec } from "../testing/spec.ts";
import { LeasedRun } from "./leased-run.ts";

const LEASE_MS = 600;

/** A run that ends when it is stopped, on a store whose answers to renewals the test gives. */
async function setUp(renew: () => Promise<boolean>) {
  const store = new MemoryStore({ now: Date.now, elapsed: () => performance.now() });
  const { id } = await store.add({ spec: testSpec(), by: "ann", waiting: false });
  const lease = await store.lease(id, "w1", LEASE_MS);
  const state = await store.read(id);
  if (lease === undefined || state === undefined) throw new Error("The task could not be leased");
  store.renew = renew;
  const stopped = new Promise<number>((resolve) => {
    const run = new LeasedRun(
      {
        ...{ store, leaseMs: LEASE_MS, onProblem: () => undefined },
        run: (_lease, _state, signal) =>
          new Promise((end) =>
            signal.addEventListener("abort", () => {
              resolve(performance.now());
              end();
            }),
          ),
      },
      lease,
    );
    void run.work(state);
  });
  return { stopped, started: performance.now() };
}

const never = () => new Promise<boolean>(() => {});

afterEach(() => vi.restoreAllMocks());

describe("a run under a lease", () => {
  test("is stopped before the lease is over when the store does not answer", async () => {
    const { stopped, started } = await setUp(never);
    const took = (await stopped) - started;
    expect(took).toBeGreaterThan(LEASE_MS * 0.6);
    expect(took).toBeLessThan(LEASE_MS);
  });

  test("is stopped before the lease is over when renewals fail", async () => {
    const { stopped, started } = await setUp(() => Promise.reject(new Error("The store is away")));
    expect((await stopped) - started).toBeLessThan(LEASE_MS);
  });

  test("is stopped at once when the lease is void", async () => {
    const { stopped, started } = await setUp(async () => false);
    expect((await stopped) - started).toBeLessThan(LEASE_MS * 0.6);
  });

  test("is stopped in time if the clock was set back an hour meanwhile", async () => {
    let renewals = 0;
    const { stopped, started } = await setUp(async () => {
      renewals += 1;
      if (renewals > 1) return never();
      const before = Date.now() - 3_600_000;
      vi.spyOn(Date, "now").mockReturnValue(before);
      return true;
    });
    // The first renewal was answered, a third into the lease.
    expect((await stopped) - started).toBeLessThan(LEASE_MS * 1.5);
    expect(renewals).toBeGreaterThan(1);
  });
});
