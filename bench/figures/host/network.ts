import type { Bench, Figure } from "../../bench.ts";
import { runNode } from "../../processes/child.ts";
import { median } from "../../report/statistics.ts";

/**
 * Time that a command takes to start in the network namespace of its thread, and the extra wait of the first
 * one.
 */
export const network: Figure = {
  name: "network",
  async measure(bench: Bench) {
    const rounds = String(bench.choose(40, 4));
    const program = [bench.program("network"), await bench.newFolder(), rounds];
    // The program says at its top what it writes.
    const measured = JSON.parse(await runNode(program)) as Readonly<Record<string, readonly number[]>>;
    const { alone = [], thread = [], namespace = [] } = measured;
    return [
      {
        ...{ figure: "`true` in the network namespace of its thread", value: median(thread), unit: "ms" },
        ...{ floor: { name: "bwrap alone", value: median(alone) }, target: { of: "ratio", most: 1.3 } },
      },
      {
        ...{ figure: "making that namespace, once", value: median(namespace), unit: "ms" },
        target: { of: "value", most: 200 },
      },
    ];
  },
};
