import type { Bench, Figure } from "../../bench.ts";
import { runNode } from "../../processes/child.ts";
import { median } from "../../report/statistics.ts";

/** Cost of a task's round beyond its two turns, with full durability and without git. */
export const taskOverhead: Figure = {
  name: "task-overhead",
  async measure(bench: Bench) {
    const program = [bench.program("task-overhead"), await bench.newFolder(), String(bench.choose(50, 5))];
    // The program says at its top what it writes.
    const measured = JSON.parse(await runNode(program)) as Readonly<Record<string, readonly number[]>>;
    const { task = [], turns = [] } = measured;
    return [
      {
        figure: "a round of a task, beyond its two turns",
        value: Math.max(0, median(task) - median(turns)),
        ...{ unit: "ms", floor: { name: "the turns alone", value: median(turns) } },
        target: { of: "value", most: 100 },
      },
    ];
  },
};
