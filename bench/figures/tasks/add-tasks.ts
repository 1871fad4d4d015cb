import type { Bench, Figure } from "../../bench.ts";
import { runNode } from "../../processes/child.ts";
import { median } from "../../report/statistics.ts";

const TASKS = 1_000;

/** The time it takes to add the tasks of one file on this machine, until none of them can be lost. */
export const addTasks: Figure = {
  name: "add-tasks",
  async measure(bench: Bench) {
    const amounts = [String(TASKS), String(bench.choose(5, 1))];
    const program = [bench.program("add-tasks"), await bench.newFolder(), ...amounts];
    // The program says at its top what it writes.
    const measured = JSON.parse(await runNode(program)) as Readonly<Record<string, readonly number[]>>;
    const { apart = [], chained = [], reading = [] } = measured;
    const floor = { name: "reading the file", value: median(reading) };
    const target = { of: "value", most: 2_000 } as const;
    return [
      {
        figure: "adding 1,000 tasks of a file, full durability",
        value: median(apart),
        unit: "ms",
        floor,
        target,
      },
      { figure: "… each after the one before", value: median(chained), unit: "ms", floor, target },
    ];
  },
};
