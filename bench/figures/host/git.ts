import type { Bench, Figure } from "../../bench.ts";
import { runNode } from "../../processes/child.ts";
import { median } from "../../report/statistics.ts";

/** Cost of agents committing to a git directory of their own, and of the user getting their commits. */
export const git: Figure = {
  name: "git",
  async measure(bench: Bench) {
    const rounds = String(bench.choose(15, 3));
    const program = [bench.program("git"), await bench.newFolder(), rounds];
    // The program says at its top what it writes.
    const measured = JSON.parse(await runNode(program)) as Readonly<Record<string, readonly number[]>>;
    const { fetch = [], preparation = [], takeOver = [] } = measured;
    return [
      {
        ...{ figure: "a private git directory, and two commits taken over", unit: "ms" },
        value: median(preparation) + median(takeOver),
        ...{ floor: { name: "git fetch", value: median(fetch) }, target: { of: "ratio", most: 3 } },
      },
    ];
  },
};
