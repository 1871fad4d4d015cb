import { homeFolder, inheritedEnvironment } from "@flint/server/environment";
import { canMoveCursor, readLook } from "@flint/tui/draw";
import { drawFirstFrame, type FirstFrame } from "@flint/tui/first-frame";
import { isPrint, opensSession } from "./command-line/opens-session.ts";
import { isInteractive } from "./command-line/terminal.ts";
import { branchOf } from "./commands/session/branch.ts";

/** With these the command prints or asks something first, or the session looks different or is in another folder. */
const LATER = /^(?:-h|--help|-V|--version|--yolo|--permissions|--screen|-C|--cwd)(?:=|$)/;

/** Reports whether a session follows, inline and in this folder, with nothing in between. */
export function canDrawFirstFrame(args: readonly string[]): boolean {
  const [first] = args;
  const isSession = first === undefined || first === "resume" || opensSession(args);
  return isSession && !args.some((argument) => isPrint(argument) || LATER.test(argument));
}

/**
 * Draws the first frame of a session if the arguments open one. Built as a program of its own, so that it is on the
 * screen before the rest of Flint is loaded.
 */
export function showFirstFrame(args: readonly string[]): FirstFrame | undefined {
  if (!canDrawFirstFrame(args)) return undefined;
  const isTerminal = isInteractive() && process.stdout.isTTY === true;
  return isTerminal && canMoveCursor(inheritedEnvironment()) ? drawEarlyFrame() : undefined;
}

/** Draws the first frame of a session in this folder. */
export function drawEarlyFrame(): FirstFrame {
  const cwd = process.cwd();
  const terminal = {
    input: process.stdin,
    output: process.stdout,
    exit: (code: number) => process.exit(code),
  };
  const place = { cwd, home: homeFolder(), branch: branchOf(cwd) };
  return drawFirstFrame(terminal, place, readLook(inheritedEnvironment(), process.stdout));
}
