import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { descendantsOf, waitForExit } from "@flint/testkit";
import type { TortureCase } from "../case.ts";
import { count, milliseconds } from "../figures.ts";

/** Kills a server while a command runs. */
export const crashCommand: TortureCase = {
  id: "P16",
  title: "a command cut off by a crash is never run again by a resume",
  async run(context) {
    const home = join(await context.folder(), "home");
    const cwd = await context.folder();
    const args = ["--approval", "never"];
    const server = await context.start({ kind: "flint", home, cwd, args });
    const threadId = await server.startThread();
    const turnId = await server.startTurn(threadId, "run `echo once >> ran; echo up; sleep 300`");
    await server.during(turnId, "item/commandExecution/outputDelta");
    const processes = descendantsOf(server.pid);
    const killedAt = performance.now();
    await server.crash();
    await waitForExit(processes, 5_000);
    const goneMs = performance.now() - killedAt;

    const next = await context.start({ kind: "flint", home, cwd, args });
    await next.call("thread/resume", { threadId });
    const turn = await next.lastTurn(threadId);
    assert.equal(turn.status, "interrupted");
    const command = turn.items.find(({ type }) => type === "commandExecution");
    assert(
      command !== undefined && "status" in command && command.status === "failed",
      "the command has failed",
    );
    assert.equal((await next.runTurn(threadId, "hello")).status, "completed");
    await next.expectAlive(context.patience);
    const runs = readFileSync(join(cwd, "ran"), "utf8").trim().split("\n").length;
    assert.equal(runs, 1, "the command ran once");
    return [count("runs of the command", runs), milliseconds("its processes gone in", goneMs, 5_000)];
  },
};
