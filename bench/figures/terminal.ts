import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Bench, Figure } from "../bench.ts";
import { processorMicroseconds, residentMegabytes } from "../process-usage.ts";
import { interleave } from "../rounds.ts";
import { lowest } from "../statistics.ts";

const run = promisify(execFile);

/** What a session in the terminal costs: to its first frame, to draw a long thread, and while text streams. */
export const terminal: Figure = {
  name: "terminal",
  async measure(bench: Bench) {
    const home = await bench.newFolder();
    const [flint = ""] = bench.flint;
    const environment = {
      ...process.env,
      ...{
        FLINT_HOME: home,
        FLINT_CONFIG: join(home, "config.toml"),
        FLINT_MODEL: "flint/offline",
        TERM: "xterm",
      },
    };
    const starts = await interleave(bench.choose(12, 2), {
      nothing: () => timeTo([process.execPath, "-e", "console.log(`Starting`)"], environment),
      frame: () => timeTo([process.execPath, flint, "--offline", "--durability", "relaxed"], environment),
    });
    const items = bench.choose(10_000, 1_000);
    const deltas = bench.choose(3_000, 300);
    const costs = await interleave(bench.choose(5, 1), {
      attach: () => measured(bench, "attach", items),
      floor: () => measured(bench, "floor", deltas),
      stream: () => measured(bench, "stream", deltas),
      echo: () => measured(bench, "echo", deltas),
    });
    const rest = await atRest(
      [process.execPath, flint, "--offline"],
      environment,
      bench.choose(10_000, 1_000),
    );
    return [
      {
        figure: "terminal: to the first frame",
        value: lowest(starts.frame),
        unit: "ms",
        floor: { name: "node -e 0", value: lowest(starts.nothing) },
        target: { of: "ratio", most: 2 },
      },
      {
        figure: `terminal: a thread of ${items} items drawn`,
        value: lowest(costs.attach),
        unit: "ms",
        target: { of: "value", most: 150 },
      },
      {
        figure: `terminal: CPU of ${deltas} deltas at 500/s`,
        value: lowest(costs.stream),
        unit: "ms",
        floor: { name: "not drawn", value: lowest(costs.floor) },
        target: { of: "ratio", most: 1.6 },
      },
      {
        figure: "terminal: a key to its frame meanwhile, p99",
        value: lowest(costs.echo),
        unit: "ms",
        target: { of: "value", most: 20 },
      },
      {
        figure: "terminal: CPU in 10 s in which nothing happens",
        value: rest.idleMs,
        unit: "ms",
        target: { of: "value", most: 1 },
      },
      {
        figure: "terminal: memory of a session",
        value: rest.megabytes,
        unit: "MB",
        target: { of: "value", most: 90 },
      },
    ];
  },
};

async function measured(bench: Bench, what: string, amount: number): Promise<number> {
  const { stdout } = await run(process.execPath, [bench.program("terminal"), what, String(amount)]);
  return JSON.parse(stdout).value;
}

/** What a session uses while nothing happens, as CPU time in 10 seconds, and the memory that it holds. */
async function atRest(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  milliseconds: number,
): Promise<{ readonly idleMs: number; readonly megabytes: number }> {
  const line = `exec ${command.map((word) => `'${word}'`).join(" ")}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], { env, stdio: ["pipe", "pipe", "ignore"] });
  try {
    await seen(child.stdout, "Ask for something");
    const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim());
    // What follows the first frame, such as the list of models, is not rest.
    await pause(3_000);
    const before = processorMicroseconds(pid);
    await pause(milliseconds);
    const used = (processorMicroseconds(pid) - before) / 1000;
    return { idleMs: (used * 10_000) / milliseconds, megabytes: residentMegabytes(pid) };
  } finally {
    child.stdin.end("\u0003\u0003");
    const [node = "", flint = ""] = command;
    await run(node, [flint, "server", "stop"], { env });
  }
}

function seen(output: Readable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let all = "";
    output.on("data", (chunk: Buffer) => {
      all += chunk.toString();
      if (all.includes(text)) resolve();
    });
    output.on("end", () => reject(new Error(`The session ended without a frame: ${JSON.stringify(all)}`)));
  });
}

/** How long a program in a terminal, which `script` of util-linux makes, takes until it says that it starts. */
function timeTo(command: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now();
  const quoted = command.map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", quoted, "/dev/null"], { env, stdio: ["pipe", "pipe", "ignore"] });
  return new Promise((resolve, reject) => {
    let seen = "";
    child.on("error", reject);
    child.stdout.on("data", (chunk: Buffer) => {
      seen += chunk.toString();
      if (!seen.includes("Starting")) return;
      resolve(performance.now() - startedAt);
      // Twice Ctrl-C quits; the program without a session is over already.
      child.stdin.end("\u0003\u0003");
    });
    child.on("exit", () => reject(new Error(`The program ended without a frame: ${JSON.stringify(seen)}`)));
  });
}
