import type { Random } from "../../packages/tasks/src/testing/random.ts";

/** Something that goes wrong during a campaign. */
export type Fault = keyof typeof FAULT_NAMES;

/** The name of each fault in a report. */
export const FAULT_NAMES = {
  kill: "workers killed",
  stop: "workers stopped for longer than their lease",
  cut: "cuts of the network between workers and Redis",
  server: "kills of the server that adds and schedules",
  serverStop: "stops of that server",
  redis: "kills of Redis",
  redisStop: "stops of Redis",
  outage: "times of 30 s without Redis",
  flush: "losses of all of its data",
} as const;

/** The least number of faults among which Redis also loses everything once. */
const WITH_FLUSH = 20;

/** The faults of a campaign in their order: most are killed workers, and Redis loses its data once, in the middle. */
export function chooseFaults(random: Random, count: number): Fault[] {
  const faults = Array.from({ length: count }, () =>
    random.pick<Fault>([
      ...(["kill", "kill", "kill", "stop", "cut"] as const),
      ...(["server", "serverStop", "redis", "redisStop"] as const),
    ]),
  );
  if (count >= WITH_FLUSH) faults[Math.floor(count / 2)] = "flush";
  return faults;
}
