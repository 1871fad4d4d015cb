import assert from "node:assert/strict";
import { descendantsOf, isAlive } from "@flint/testkit";
import type { TortureCase } from "../case.ts";
import { count, milliseconds, none, quantile } from "../figures.ts";
import type { TortureServer } from "../server.ts";

const SANDBOXES = ["workspace-write", "danger-full-access"] as const;

/** Interrupts turns that run a command, confined and not. */
export const interruptCommand: TortureCase = {
  id: "P13",
  title: "an interrupt while a command runs ends the turn with the process gone",
  async run(context) {
    const server = await context.start({
      kind: "flint",
      args: ["--approval", "never", "--allow-unconfined"],
    });
    const runs = context.choose(20, 4);
    const times: number[] = [];
    let survivors = 0;
    for (let run = 0; run < runs; run += 1) {
      const sandbox = SANDBOXES[run % SANDBOXES.length] ?? "workspace-write";
      const { ms, left } = await interruptOne(server, await server.startThread({ sandbox }));
      times.push(ms);
      survivors += left;
    }
    await server.expectAlive(context.patience);
    return [
      count("runs", runs),
      milliseconds("p95", quantile(times, 0.95), 500),
      none("processes left", survivors),
    ];
  },
};

async function interruptOne(server: TortureServer, threadId: string): Promise<{ ms: number; left: number }> {
  const after = server.wire.mark;
  const turnId = await server.startTurn(threadId, "run `sleep 300 & sleep 300 & echo up; wait`");
  await server.during(turnId, "item/commandExecution/outputDelta", after);
  const processes = descendantsOf(server.pid);
  assert(
    processes.some(({ command }) => command.includes("sleep 300")),
    `the command runs: ${processes.map(({ command }) => command).join("; ")}`,
  );
  const startedAt = performance.now();
  await server.call("turn/interrupt", { threadId });
  const turn = await server.turnCompleted(turnId);
  const ms = performance.now() - startedAt;
  const left = processes.filter((process) => isAlive(process)).length;
  assert.equal(turn.status, "interrupted");
  return { ms, left };
}
