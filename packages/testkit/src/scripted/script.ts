import type { DriverEvent } from "@flint/core/ports";
import type {
  Action,
  Cost,
  FileUpdateChange,
  PlanEntry,
  TokenUsage,
  TurnError,
  UserQuestion,
} from "@flint/protocol";

/** A moment that the test chooses: waiters continue once it is opened. */
export class Gate {
  /** Resolves when the gate is opened. */
  readonly opened: Promise<void>;
  /** Resolves when something waits at the gate, so that a test knows that a script has come this far. */
  readonly reached: Promise<void>;
  #open: () => void = () => {};
  #reach: () => void = () => {};

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
  }

  /** Lets everybody through, now and later. */
  open(): void {
    this.#open();
  }

  /** Tells `reached` and resolves with `opened`. */
  wait(): Promise<void> {
    this.#reach();
    return this.opened;
  }
}

/**
 * The way in which work that needs a yes asks for it: not at all, or when the item is already there as
 * `inProgress`.
 */
type Asking = {
  /** False runs it without asking. */
  readonly asks?: boolean;
  /** True starts the item before it asks; otherwise it asks first. */
  readonly startsFirst?: boolean;
  readonly reason?: string;
};

/** One thing that a scripted agent does in a turn. */
export type Step =
  /** Reports exactly this. */
  | { readonly emit: DriverEvent }
  /** Says something: started, this many deltas (one by default), completed. */
  | { readonly text: string; readonly pieces?: number }
  /** Thinks something, in the same way. */
  | { readonly reasoning: string; readonly pieces?: number }
  /** Runs a pretended command: output piece by piece, then its exit code (0 by default). Rejecting it makes it declined. */
  | ({
      readonly command: string;
      readonly output?: readonly string[];
      readonly exitCode?: number;
      /** Between the output and the end. */
      readonly until?: Gate;
    } & Asking)
  /** Pretends to change files. */
  | ({ readonly fileChange: readonly FileUpdateChange[] } & Asking)
  /** Pretends to call a tool. */
  | ({ readonly tool: string; readonly arguments?: unknown; readonly result?: unknown } & Asking)
  /** Asks whether it may and continues either way; the decision is in the record. */
  | { readonly approve: Action }
  /** Asks the user and continues; the answers are in the record. */
  | { readonly ask: readonly UserQuestion[] }
  /** Has a client run a tool that it offers; what it gave is in the record. */
  | { readonly clientTool: string; readonly namespace?: string; readonly arguments?: unknown }
  /** Waits for the test. `ignoresInterrupt` continues to wait when the turn is interrupted. */
  | { readonly wait: Gate; readonly ignoresInterrupt?: boolean }
  /** Says something in this many deltas of this many characters, and waits for the log between them. */
  | { readonly deltas: number; readonly size: number }
  | { readonly usage: TokenUsage; readonly modelContextWindow?: number; readonly cost?: Cost }
  | { readonly plan: readonly PlanEntry[]; readonly explanation?: string }
  /** Ends the turn as failed. */
  | { readonly fail: TurnError }
  /** Ends the turn by a rejection. */
  | { readonly throws: Error }
  /** Never ends, not even when it is stopped. */
  | { readonly hang: true }
  /** Waits for a steer. */
  | { readonly untilSteered: true }
  /** Misbehaves: reports this after the turn ended, at once or when the test says so. */
  | { readonly afterEnd: DriverEvent; readonly when?: Gate }
  /** The agent is gone: the turn rejects, its items stay open. */
  | { readonly die: true };

/** The steps of a scripted agent in one turn, in order. After them the turn is completed. */
export type Script = readonly Step[];
