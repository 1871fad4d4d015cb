import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { descendantsOf, isAlive, leavesNoProcess, ProcessGuard, waitForExit } from "./processes.ts";

const PATIENCE = { timeout: 10_000 };

describe("the processes of a machine", () => {
  test("are found below another, children of children too", async () => {
    const child = start("sh", "-c", "sleep 1000 & echo started; wait");
    await once(streamOf(child), "data");
    // For a moment the child of a child still goes by the name of the shell.
    await vi.waitFor(() => expect(commandsBelow(pidOf(child))).toEqual(["sleep 1000"]), PATIENCE);
    expect(commandsBelow(process.pid)).toContain("sleep 1000");
  });

  test("are alive until they end, and identified by their start time", async () => {
    const child = start("sleep", "1000");
    const [found] = descendantsOf(process.pid).filter(({ pid }) => pid === child.pid);
    expect(found).toBeDefined();
    if (found === undefined) return;
    expect([isAlive(found), isAlive(found.pid)]).toEqual([true, true]);
    expect(isAlive({ ...found, startTime: found.startTime + 1 })).toBe(false);
    child.kill("SIGKILL");
    await waitForExit([found]);
    expect(isAlive(found)).toBe(false);
  });

  test("treats zombies as ended", async () => {
    const neglectful = start("sh", "-c", "sleep 998 & echo $!; exec sleep 1000");
    const [text] = await once(streamOf(neglectful), "data");
    const child = Number(String(text));
    // A shell would take notice; what it becomes does not.
    await vi.waitFor(() => expect(commandOf(pidOf(neglectful))).toBe("sleep 1000"), PATIENCE);
    process.kill(child, "SIGKILL");
    await waitForExit([child]);
    expect(existsSync(`/proc/${child}`)).toBe(true);
  });

  test("are waited for until the deadline and then named", async () => {
    const child = start("sleep", "1000");
    const found = descendantsOf(process.pid).filter(({ pid }) => pid === child.pid);
    await expect(waitForExit(found, 50)).rejects.toThrow(/^Still running after 50 ms: \d+ sleep 1000$/);
  });
});

describe("the guard against processes that are left", () => {
  test("finds one that lost its parent, names it and ends it", async () => {
    const guard = new ProcessGuard();
    const child = start("sh", "-c", "sleep 999 >/dev/null 2>&1 & echo $!");
    const exited = once(child, "exit");
    const [text] = await once(streamOf(child), "data");
    const orphan = Number(String(text));
    await exited;
    expect(isAlive(orphan)).toBe(true);
    await expect(guard.release(100)).rejects.toThrow(/^Still running after 100 ms: \d+ .*sleep 999/);
    await waitForExit([orphan]);
  });

  test("is content with what has ended", async () => {
    leavesNoProcess();
    const child = start("true");
    await once(child, "exit");
  });
});

function start(program: string, ...given: readonly string[]): ChildProcess {
  const child = spawn(program, given, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => endTree(child));
  return child;
}

function commandsBelow(pid: number): string[] {
  return descendantsOf(pid).map((found) => found.command);
}

function commandOf(pid: number): string | undefined {
  return descendantsOf(process.pid).find((found) => found.pid === pid)?.command;
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("The process did not start.");
  return child.pid;
}

function streamOf(child: ChildProcess): NodeJS.ReadableStream {
  if (child.stdout === null) throw new Error("The process has no output.");
  return child.stdout;
}

async function endTree(child: ChildProcess): Promise<void> {
  const tree = descendantsOf(pidOf(child));
  child.kill("SIGKILL");
  for (const { pid } of tree) process.kill(pid, "SIGKILL");
  await waitForExit(tree);
  await waitForExit([pidOf(child)]);
}
