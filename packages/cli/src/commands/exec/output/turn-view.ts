import type { AgentEvent } from "@flint/sdk";
import type { Line } from "../../../screen/line.ts";
import type { TurnEnd } from "../../../screen/turn-status.ts";
import type { Block } from "../../../screen/wrap.ts";

/** A place where the user can be asked. */
export interface AskSurface {
  /** Shows lines that stay. */
  put(block: Block): void;
  /** Shows the line at which is answered, in place of the one before; undefined takes it away. */
  prompt(line: Line | undefined): void;
}

/** How the end of a turn is told. */
export interface ViewEnd extends TurnEnd {
  /** The last thing that the agent said. */
  readonly text: string;
}

/** One way to show a turn. */
export interface ExecView {
  /** Shows an event of the turn. */
  show(event: AgentEvent): void;
  /** Says something of Flint's own. */
  say(text: string): void;
  /** Says how the turn ended; nothing comes after it. */
  end(end: ViewEnd): void;
  /** Leaves the terminal as it was, whatever happened before. May be called more than once. */
  close(): void;
}
