import { needs, temporaryFolder } from "@flint/testkit";
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
  "workers that hang, and a Redis that is killed and loses everything, cost no acknowledged task",
  async () => {
    const faults: readonly Fault[] = ["stop", "redis", "kill", "flush", "redis", "stop"];
    const folder = await temporaryFolder();
    const invariants = await playCampaign({ tasks: 60, workers: 2, faults, seed: 7, folder });
    expect(invariants.flatMap(({ breaches }) => breaches)).toEqual([]);
  },
  180_000,
);
