import type { AgentEvent } from "@flint/sdk";
import type { Line, LineBlock, TurnEnd } from "@flint/tui/draw";

/** The place in which the user is asked. */
export interface PromptSurface {
  /** Prints lines above the prompt. */
  put(block: LineBlock): void;
  /** Shows the line that the user answers, replacing the previous one; undefined removes it. */
  prompt(line: Line | undefined): void;
}

/** The outcome of a turn, for its view. */
export interface ViewEnd extends TurnEnd {
  /** The agent's last message. */
  readonly text: string;
}

/** Prints a turn in one format. */
export interface TurnView {
  /** Shows an event of the turn. */
  show(event: AgentEvent): void;
  /** Prints a message from Flint itself. */
  say(text: string): void;
  /** Prints how the turn ended; nothing follows. */
  end(end: ViewEnd): void;
  /** Restores the terminal. May be called more than once. */
  close(): void;
}
