import type { Bench, Figure } from "../../bench.ts";
import { runNode } from "../../processes/child.ts";
import type { Row } from "../../report/row.ts";
import { median } from "../../report/statistics.ts";

/** Additional time that the same command takes in a sandbox, with all that it protects in the workspace. */
export const sandbox: Figure = {
  name: "sandbox",
  async measure(bench: Bench) {
    const rounds = String(bench.choose(40, 4));
    const program = [bench.program("sandbox"), await bench.newFolder(), rounds];
    // The program says at its top what it writes.
    const measured = JSON.parse(await runNode(program)) as Readonly<Record<string, readonly number[]>>;
    const { unconfined = [], ...confined } = measured;
    if (Object.keys(confined).length === 0) throw new Error("There is no sandbox on this machine.");
    return Object.entries(confined).map(([name, times]) => rowOf(name, times, unconfined));
  },
};

/** The preferred way has a target; the other one is for machines that lack it. */
function rowOf(name: string, times: readonly number[], unconfined: readonly number[]): Row {
  const without = median(unconfined);
  return {
    figure: `what ${name} adds to the time of \`true\``,
    value: median(times) - without,
    unit: "ms",
    floor: { name: "`true` unconfined", value: without },
    ...(name === "bubblewrap" ? { target: { of: "value", most: 60 } as const } : {}),
  };
}
