import { readdirSync, readFileSync } from "node:fs";

/** The command lines of all processes. */
export function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => {
      // Expected: the process ended in between.
      try {
        return readFileSync(`/proc/${name}/cmdline`, "latin1");
      } catch {
        return "";
      }
    });
}
