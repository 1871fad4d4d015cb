import type { Random } from "../../packages/tasks/src/testing/random.ts";

/** Something that goes wrong during a campaign. */
export type Fault = "kill" | "stop" | "redis" | "flush";

/** What each fault is called in a report. */
export const FAULT_NAMES: Readonly<Record<Fault, string>> = {
  kill: "workers killed",
  stop: "workers stopped for longer than their lease",
  redis: "kills of Redis",
  flush: "losses of all of its data",
};

/** The least number of faults among which Redis also loses everything once. */
const WITH_FLUSH = 20;

/** The faults of a campaign in their order: most are killed workers, and Redis loses its data once, in the middle. */
export function chooseFaults(random: Random, count: number): Fault[] {
  const faults = Array.from({ length: count }, () =>
    random.pick<Fault>(["kill", "kill", "kill", "stop", "redis"]),
  );
  if (count >= WITH_FLUSH) faults[Math.floor(count / 2)] = "flush";
  return faults;
}
