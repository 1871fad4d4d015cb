import { agentFolder, leavesNoProcess, needs, temporaryFolder } from "@flint/testkit";
import { expect } from "vitest";
import { playCampaign } from "./campaign.ts";
import type { Fault } from "./faults.ts";

needs("redis")(
  "500 tasks on two workers that are killed 20 times all end, each once, and no lost run is untold [P37]",
  async () => {
    const faults = Array.from({ length: 20 }, (): Fault => "kill");
    const folder = await temporaryFolder();
    const invariants = await playCampaign({ tasks: 500, workers: 2, faults, seed: 20_261_118, folder });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
    expect(invariants.map(({ seen }) => seen)).toContain("500 ended, 0 asking");
  },
  180_000,
);

needs("redis")(
  "a task that kills its worker each time is parked with the reason, and does not run for ever [P37]",
  async () => {
    const folder = await temporaryFolder();
    const options = { tasks: 1, poison: 1, workers: 2, faults: [], seed: 1, folder };
    const invariants = await playCampaign(options);
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
    const seen = invariants.map((invariant) => invariant.seen);
    expect(seen).toContain("0 ended, 1 asking (lost)");
    expect(seen).toContain("4 runs, 4 lost, 0 given back");
  },
  180_000,
);

needs("redis")(
  "processes that are killed and hang, and a network that is cut, cost no acknowledged task",
  async () => {
    const faults: readonly Fault[] = [
      ...(["stop", "cut", "server", "redis", "kill", "serverStop"] as const),
      ...(["flush", "redisStop", "cut", "server", "stop"] as const),
    ];
    const folder = await temporaryFolder();
    const invariants = await playCampaign({ tasks: 60, workers: 2, faults, seed: 7, folder });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  },
  240_000,
);

needs("redis")(
  "30 s without Redis, and the loss of all of its data in the middle of runs, cost no acknowledged task [P38]",
  async () => {
    const faults: readonly Fault[] = ["kill", "outage", "flush"];
    const folder = await temporaryFolder();
    const invariants = await playCampaign({ tasks: 40, workers: 2, faults, seed: 38, folder });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
    expect(invariants.map(({ seen }) => seen)).toContain("40 of 40");
  },
  240_000,
);

needs("redis", "bwrap", "git")(
  "agents whose workers are killed, stopped and cut off leave each result in one branch, and touch nothing else",
  async () => {
    leavesNoProcess(10_000);
    const faults: readonly Fault[] = ["kill", "stop", "cut", "kill", "server", "stop"];
    const folder = await agentFolder();
    const options = { tasks: 12, workers: 2, agents: "scripted" as const, faults, seed: 3, folder };
    const invariants = await playCampaign(options);
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
    expect(invariants.map(({ seen }) => seen)).toContain("12 branches");
  },
  240_000,
);

needs(
  "redis",
  "claude",
  "codex",
  "bwrap",
  "git",
)(
  "Claude and Codex review each other's work while their workers are killed and stopped, and every result is the accepted one",
  async () => {
    leavesNoProcess(15_000);
    const faults: readonly Fault[] = ["kill", "stop"];
    const folder = await agentFolder();
    const options = { tasks: 2, workers: 2, agents: "real" as const, faults, seed: 5, folder };
    const invariants = await playCampaign(options);
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
    expect(invariants.map(({ seen }) => seen)).toContain("1 by claude, 1 by codex");
  },
  240_000,
);
