import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Bench, Figure } from "../../bench.ts";
import { watchChild } from "../../processes/child.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import { interleave } from "../../report/rounds.ts";
import { lowest } from "../../report/statistics.ts";

const HELLO = { clientInfo: { name: "bench", version: "0" } };

/** The time it takes from starting the command until it has answered the first request. */
export const coldStart: Figure = {
  name: "cold-start",
  async measure(bench: Bench) {
    const home = await bench.newFolder();
    const times = await interleave(bench.choose(20, 4), {
      node: startNothing,
      echo: () => startServer([bench.program("echo-server")], {}),
      flint: () => startServer(bench.flint, { FLINT_HOME: home }),
    });
    const nothing = { name: "node -e 0", value: lowest(times.node) };
    const row = { unit: "ms", floor: nothing } as const;
    return [
      {
        ...row,
        figure: "cold start: flint serve to the first answer",
        value: lowest(times.flint),
        target: { of: "ratio", most: 1.8 },
      },
      { ...row, figure: "cold start: Node echo server to the first answer", value: lowest(times.echo) },
    ];
  },
};

async function startNothing(): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, ["-e", "0"], { stdio: ["pipe", "pipe", "inherit"] });
  watchChild(child);
  await once(child, "exit");
  return performance.now() - start;
}

async function startServer(
  nodeArguments: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const start = performance.now();
  const server = new WireProcess(nodeArguments, { environment });
  await server.exchange("initialize", HELLO);
  const took = performance.now() - start;
  await server.end();
  return took;
}
