import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Bench, Figure } from "../../bench.ts";
import { processorMicroseconds, residentMegabytes, wakeUps } from "../../processes/process-usage.ts";
import { interleave } from "../../report/rounds.ts";
import { lowest } from "../../report/statistics.ts";

const run = promisify(execFile);
const STARTING = "Starting";
/** Figures about rest are for this long. */
const IDLE_MS = 10_000;
/** Nothing but that word. It waits afterwards, because the end of a program is not part of its start. */
const WAITING = `console.log("${STARTING}"); setTimeout(() => {}, 60000)`;

/** Cost of a session in the terminal: to its first frame, to draw a long thread, and while text streams. */
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
      nothing: () => cpuTo([process.execPath, "-e", WAITING], environment),
      frame: () => cpuTo([process.execPath, flint, "--offline"], environment),
    });
    const items = bench.choose(10_000, 1_000);
    const deltas = bench.choose(3_000, 300);
    const costs = await interleave(bench.choose(5, 1), {
      attach: () => measured(bench, "attach", items),
      floor: () => measured(bench, "floor", deltas),
      stream: () => measured(bench, "stream", deltas),
      echo: () => measured(bench, "echo", deltas),
    });
    const rest = await atRest([process.execPath, flint, "--offline"], environment, {
      settleMs: bench.choose(20_000, 3_000),
      idleMs: bench.choose(IDLE_MS, 1_000),
    });
    return [
      {
        figure: "terminal: CPU to the first frame",
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
        value: rest.cpuMs,
        unit: "ms",
        target: { of: "value", most: 1 },
      },
      {
        figure: "terminal: wake-ups in 10 s in which nothing happens",
        value: rest.wakeUps,
        unit: "",
        target: { of: "value", most: 0 },
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

/** Activity of a session while nothing happens. */
interface Rest {
  /** In 10 seconds. */
  readonly cpuMs: number;
  readonly wakeUps: number;
  readonly megabytes: number;
}

/** Measures a session that has settled for a while, for as long as is given. */
async function atRest(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  { settleMs, idleMs }: { readonly settleMs: number; readonly idleMs: number },
): Promise<Rest> {
  const line = `exec ${command.map((word) => `'${word}'`).join(" ")}`;
  const child = spawn("script", ["-qec", line, "/dev/null"], { env, stdio: ["pipe", "pipe", "ignore"] });
  try {
    await seen(child.stdout, "Ask for something");
    const pid = programOf(child);
    // What follows the first frame is not rest: the list of models, and V8, which collects once when it is quiet.
    await pause(settleMs);
    const [microseconds, wakeUpsBefore] = [processorMicroseconds(pid), wakeUps(pid)];
    await pause(idleMs);
    const share = IDLE_MS / idleMs;
    return {
      cpuMs: ((processorMicroseconds(pid) - microseconds) / 1000) * share,
      wakeUps: (wakeUps(pid) - wakeUpsBefore) * share,
      megabytes: residentMegabytes(pid),
    };
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

/**
 * The CPU time that a program in a terminal, which `script` of util-linux makes, has used when it says that it starts. Other
 * work of the machine changes it far less than the time that passes.
 */
function cpuTo(command: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const quoted = command.map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", `exec ${quoted}`, "/dev/null"], {
    env,
    stdio: ["pipe", "pipe", "ignore"],
  });
  return new Promise((resolve, reject) => {
    let seen = "";
    child.on("error", reject);
    child.stdout.on("data", (chunk: Buffer) => {
      const isSeen = seen.includes(STARTING);
      seen += chunk.toString();
      if (isSeen || !seen.includes(STARTING)) return;
      resolve(processorMicroseconds(programOf(child)) / 1000);
      // Ctrl-C ends both: the session, and the program that waits.
      child.stdin.end("\u0003\u0003");
    });
    child.on("exit", () => reject(new Error(`The program ended without a frame: ${JSON.stringify(seen)}`)));
  });
}

/** The program that runs in the terminal of `script`. */
function programOf({ pid }: ChildProcess): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
}
