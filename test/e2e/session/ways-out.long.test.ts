import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { TerminalOutput } from "@flint/tui/testing";
import { expect, test } from "vitest";
import type { Pty } from "../terminal/exec-pty.ts";
import { openSession, restored, sessionProcess } from "./session-pty.ts";

const TEST_MS = 60_000;
const PASTE_ON = "\u001b[?2004h";
const SHELL = "shell> ";
const [ALTERNATE, MAIN] = ["\u001b[?1049h", "\u001b[?1049l"];

test.each([
  ["SIGTERM", 143],
  ["SIGHUP", 143],
  ["SIGINT", 130],
] as const)(
  "%s while a page is open restores the terminal",
  async (signal, code) => {
    const pty = await openSession();
    await pty.waitFor("F1 for help");
    pty.type("/help\r");
    await pty.waitFor(ALTERNATE);
    process.kill((await sessionProcess(pty)).pid, signal);
    expect(await restored(pty)).toBe(code);
  },
  TEST_MS,
);

test(
  "an error that is not caught restores the terminal and is printed on it",
  async () => {
    const folder = await temporaryFolder();
    const fault = join(folder.path, "fault.cjs");
    await writeFile(fault, `process.on("SIGUSR2", () => { throw new Error("a fault of the program"); });`);
    const pty = await openSession([], { env: { NODE_OPTIONS: `--require=${fault}` } });
    await pty.waitFor("F1 for help");
    pty.type("/help\r");
    await pty.waitFor(ALTERNATE);
    process.kill((await sessionProcess(pty)).pid, "SIGUSR2");
    expect(await restored(pty)).not.toBe(0);
    // What is printed on the alternate screen is gone with it.
    expect(pty.output.slice(pty.output.lastIndexOf(MAIN))).toContain("Error: a fault of the program");
  },
  TEST_MS,
);

/** A shell with job control in which the session is started, and which itself leaves the modes of the terminal alone. */
async function openShell(): Promise<{ readonly pty: Pty; readonly command: string }> {
  const folder = await temporaryFolder();
  const inputrc = folder.join("inputrc");
  await writeFile(inputrc, "set enable-bracketed-paste off\n");
  let command = "";
  const shell = (flint: string) => {
    command = flint;
    return `PS1="${SHELL}" bash --norc --noprofile -i`;
  };
  const pty = await openSession([], { shell, env: { INPUTRC: inputrc } });
  await pty.waitFor(SHELL);
  return { pty, command };
}

/** Returns the modes that a session has left on so far. */
function leftOn({ output }: Pty): readonly string[] {
  const written = new TerminalOutput();
  written.take(output);
  return written.left;
}

test(
  "Ctrl-Z gives the terminal back to the shell, and fg brings the session back",
  async () => {
    const { pty, command } = await openShell();
    pty.type(`${command}\r`);
    await pty.waitFor("F1 for help");
    pty.type("half a thought");
    await pty.waitFor("half a thought");
    pty.type("\u001a");
    await pty.waitFor("Stopped");
    await pty.waitFor(SHELL);
    expect(leftOn(pty)).toEqual([]);
    pty.type("fg\r");
    // Keys are read as before when the session is seen again.
    await pty.waitFor(PASTE_ON);
    await pty.waitFor("half a thought");
    await pty.waitFor("F1 for help");
    pty.type(" and more");
    await pty.waitFor("and more");
    pty.type("\u0003");
    await pty.waitFor("Ask for something");
    pty.type("\u0004");
    await pty.waitFor(SHELL);
    expect(leftOn(pty)).toEqual([]);
    pty.type("exit\r");
    await pty.exitCode();
  },
  TEST_MS,
);

test(
  "what a killed session has left switched on is switched off by the next one on the terminal",
  async () => {
    const { pty, command } = await openShell();
    pty.type(`${command}\r`);
    await pty.waitFor("F1 for help");
    pty.type("/help\r");
    await pty.waitFor(ALTERNATE);
    process.kill((await sessionProcess(pty)).pid, "SIGKILL");
    await pty.waitFor(SHELL);
    expect(leftOn(pty)).toContain("the alternate screen");
    pty.type(`${command}\r`);
    await pty.waitFor(MAIN);
    await pty.waitFor("Ask for something");
    await pty.waitFor("F1 for help");
    pty.type("\u0004");
    await pty.waitFor(SHELL);
    expect(leftOn(pty)).toEqual([]);
    pty.type("exit\r");
    await pty.exitCode();
  },
  TEST_MS,
);
