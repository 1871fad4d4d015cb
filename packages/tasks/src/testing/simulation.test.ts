import { isEnded } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { LEASE_MS, Simulation } from "./simulation.ts";
import { violations } from "./violations.ts";

/** `FLINT_HISTORIES=100000` plays the long form. */
const HISTORIES = Number(process.env.FLINT_HISTORIES ?? 400);

describe("random histories of tasks", () => {
  test("keep every invariant, and end once the world is calm", { timeout: 3_600_000 }, async () => {
    let fenced = 0;
    let lost = 0;
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const simulation = new Simulation(seed);
      await simulation.play(3, 100);
      expect(simulation.problems, `seed ${seed}`).toEqual([]);
      fenced += simulation.fencedWrites;
      for (const state of await simulation.store.list()) {
        const events = await simulation.store.events(state.id);
        lost += events.filter(({ type }) => type === "run/lost").length;
        expect(violations(state.id, events, state, LEASE_MS), `seed ${seed}`).toEqual([]);
        expect(isEnded(state), `seed ${seed}: task ${state.number} is ${state.phase}`).toBe(true);
      }
    }
    // The faults that the histories are about did happen.
    expect(lost).toBeGreaterThan(HISTORIES / 20);
    expect(fenced).toBeGreaterThan(HISTORIES / 100);
  });
});
