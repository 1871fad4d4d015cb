import { descendantsOf, leavesNoProcess, type RunningProcess } from "@flint/testkit";
import { TerminalOutput } from "@flint/tui/testing";
import { expect, onTestFinished, vi } from "vitest";
import { Pty, type PtyOptions } from "../terminal/exec-pty.ts";
import { stopServer } from "../terminal/session-fixture.ts";

const ENDED = /\[exit code (\d+)\]/;
const GUARD_MS = 20_000;

/** Opens a session on a terminal of its own. When it ends, its exit code and the settings of the terminal are printed. */
export async function openSession(args: readonly string[] = [], options: PtyOptions = {}): Promise<Pty> {
  leavesNoProcess(10_000);
  const shell = (command: string) => `${command}; echo "[exit code $?]"; stty -a`;
  const pty = await Pty.start([...args, "--offline"], { shell, ...options });
  onTestFinished(() => stopServer(pty.home));
  return pty;
}

/** Allows what is asked. A key that comes too soon after a question was not meant for it. */
export async function allow(pty: Pty): Promise<void> {
  await pty.waitFor("[y]");
  const isAllowed = () => {
    if (pty.output.includes("allowed once")) return true;
    pty.type("y");
    return false;
  };
  await vi.waitUntil(isAllowed, { timeout: GUARD_MS, interval: 500 });
}

/** The process of the session itself, without the server that it may have started. */
export async function sessionProcess(pty: Pty): Promise<RunningProcess> {
  const find = () =>
    descendantsOf(pty.pid).find(
      ({ command }) => /^\S*node\S* .*flint\.cjs/.test(command) && !command.includes(" serve "),
    );
  return vi.waitUntil(find, { timeout: GUARD_MS });
}

/** The exit code of a session, which has left the terminal as it found it and has written nothing that it must not. */
export async function restored(pty: Pty): Promise<number> {
  await pty.waitFor("[exit code ");
  // The last line of `stty -a`.
  await pty.waitFor("extproc");
  const { output } = pty;
  const end = ENDED.exec(output);
  const written = new TerminalOutput();
  written.take(output.slice(0, end?.index));
  expect(written.left).toEqual([]);
  expect(output.slice(end?.index)).toMatch(/\sisig icanon .*\secho /s);
  return Number(end?.[1]);
}
