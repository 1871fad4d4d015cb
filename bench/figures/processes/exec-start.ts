import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Bench, Figure } from "../../bench.ts";
import { watchChild } from "../../processes/child.ts";
import { interleave } from "../../report/rounds.ts";
import { lowest } from "../../report/statistics.ts";

const PROMPT = "count to 3";

/** The time it takes from starting `flint exec` until the first byte of what it shows. */
export const execStart: Figure = {
  name: "exec-start",
  async measure(bench: Bench) {
    const home = await bench.newFolder();
    const [flint = ""] = bench.flint;
    const environment = { FLINT_HOME: home, FLINT_CONFIG: join(home, "config.toml"), FLINT_MODEL: undefined };
    const exec = (...more: readonly string[]) =>
      timeToOutput([flint, "exec", "--offline", ...more, PROMPT], { ...process.env, ...environment });
    const times = await interleave(bench.choose(20, 4), {
      nothing: () => timeToOutput(["-e", "0"], process.env),
      answer: () => exec(),
      json: () => exec("--json"),
    });
    const row = { unit: "ms", floor: { name: "node -e 0", value: lowest(times.nothing) } } as const;
    return [
      {
        ...row,
        figure: "exec: to the first words of the agent",
        value: lowest(times.answer),
        target: { of: "ratio", most: 3 },
      },
      {
        ...row,
        figure: "exec --json: to the first event",
        value: lowest(times.json),
        target: { of: "ratio", most: 3 },
      },
    ];
  },
};

/** From the start of a program to its first output, or to its end if it has none. */
async function timeToOutput(nodeArguments: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, nodeArguments, { env, stdio: ["ignore", "pipe", "inherit"] });
  watchChild(child);
  const ended = once(child, "close");
  await Promise.race([once(child.stdout, "data"), ended]);
  const took = performance.now() - start;
  child.stdout.resume();
  const [code] = await ended;
  if (code !== 0) throw new Error(`node ${nodeArguments.join(" ")} ended with exit code ${code}.`);
  return took;
}
