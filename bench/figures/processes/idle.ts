import { setTimeout as pass } from "node:timers/promises";
import type { Bench, Figure } from "../../bench.ts";
import { residentMegabytes } from "../../processes/process-usage.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import { interleave } from "../../report/rounds.ts";
import { median } from "../../report/statistics.ts";

/** Long enough for what a start leaves to be done. */
const SETTLE_MS = 500;

/** The memory of a server that is initialized and idle. */
export const idle: Figure = {
  name: "idle",
  async measure(bench: Bench) {
    const home = await bench.newFolder();
    const sizes = await interleave(bench.choose(5, 2), {
      echo: () => restingSize([bench.program("echo-server")], {}),
      flint: () => restingSize(bench.flint, { FLINT_HOME: home }),
    });
    return [
      {
        figure: "memory of an idle server",
        value: median(sizes.flint),
        unit: "MB",
        floor: { name: "Node echo server", value: median(sizes.echo) },
        target: { of: "value", most: 70 },
      },
    ];
  },
};

async function restingSize(
  nodeArguments: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const server = new WireProcess(nodeArguments, { environment });
  await server.exchange("initialize", { clientInfo: { name: "bench", version: "0" } });
  await pass(SETTLE_MS);
  const size = residentMegabytes(server.pid);
  await server.end();
  return size;
}
