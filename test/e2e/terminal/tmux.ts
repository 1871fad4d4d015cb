import { onTestFinished } from "vitest";
import { type TerminalProgram, TmuxPane } from "./tmux-pane.ts";

/** A program in a terminal of a test. */
export type Terminal = TmuxPane;

export const Terminal = {
  /** Starts a program in a terminal of its own, which goes with the test at the latest. */
  async start(program: TerminalProgram): Promise<Terminal> {
    const terminal = await TmuxPane.open(program);
    onTestFinished(() => terminal.close());
    return terminal;
  },
};
