import {
  type Action,
  type AgentCommand,
  type Answers,
  type Cost,
  type Decision,
  type DeltaType,
  type FileUpdateChange,
  failedToolCall,
  type Permission,
  type PlanEntry,
  type ReportedLimit,
  type ReviewTarget,
  type ThreadItem,
  type ThreadSettings,
  type TokenUsage,
  type ToolCallResult,
  type TurnError,
  type TurnKind,
  type UserInput,
  type UserQuestion,
} from "@flint/protocol";
import type { ClientFiles } from "./client-host.ts";

/** Services of the core for a running turn. */
export interface TurnContext {
  /** The id for this work of the agent, different for what it does on a later request of the core in the same turn. */
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly settings: ThreadSettings;
  readonly review: ReviewTarget | undefined;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  /**
   * The reason the agent began to work without a prompt. If set, the turn continues that work and has no
   * input.
   */
  readonly agentInitiated?: string | undefined;
  /** Aborted when the turn has to stop. */
  readonly signal: AbortSignal;
  /** Reports an event. Does nothing after the turn has ended. */
  emit(event: DriverEvent): void;
  /**
   * Resolves when the log has caught up and the budget allows more work. A driver whose output is unbounded awaits it
   * regularly, one that calls a model itself before each call.
   */
  ready(): Promise<void>;
  /** Requests approval of an action, from the policy or from a client. Never rejects. */
  approve(action: Action, guarantees?: ActionGuarantees): Promise<ActionDecision>;
  /**
   * Finds out what the sandbox kept an ended command from, and offers the user to let it run again with that. Resolves
   * with a text for the model; undefined if the sandbox did not stop it. Only for an agent that can add to the result of a
   * command; for any other the core sends the text as input during the turn. Never rejects.
   */
  explainCommand?(itemId: string, exitCode: number, output: string): Promise<string | undefined>;
  /** Asks the user. An empty record means that there was no answer. Never rejects. */
  ask(itemId: string, questions: readonly UserQuestion[]): Promise<Answers>;
  /** The files of a client, which are read and written in place of the disk; undefined if the disk is used. */
  clientFiles?(): ClientFiles | undefined;
  /** Has a client run a tool that it provides. Without a result in time the call has failed. Never rejects. */
  callTool(call: ClientToolCall): Promise<ToolCallResult>;
}

/** An agent's call of a client-provided tool. */
export interface ClientToolCall {
  /** The item that shows the call. */
  readonly itemId: string;
  readonly tool: string;
  readonly namespace?: string | undefined;
  readonly arguments: unknown;
}

/** A decision about an action. */
export interface ActionDecision extends Decision {
  /**
   * Permissions of an allowed action beyond its sandbox: those it asked for, bound to the folders that were
   * shown, or those that exactly this command was granted when it was stopped. Absent: those it asked for.
   */
  readonly granted?: Permission;
  /**
   * Folders that the agent can write once it has ended its work, for a change that was denied until then.
   */
  readonly opened?: readonly string[];
}

/** Guarantees of a driver about an action, on which the policy may rely. */
export interface ActionGuarantees {
  /** Flint's own sandbox runs the command, so neither it nor anything it starts can write or reach the network. */
  readonly onlyReads?: boolean;
  /** The agent changes the files itself, in a sandbox that is replaced only when it has ended its work. */
  readonly changesInSandbox?: boolean;
}

/** An event that a driver reports; the core adds thread, turn, number and time. */
export type DriverEvent =
  | { readonly type: "item/started" | "item/completed"; readonly item: ThreadItem }
  | { readonly type: DeltaType; readonly itemId: string; readonly delta: string }
  | { readonly type: "turn/plan/updated"; readonly explanation: string; readonly plan: readonly PlanEntry[] }
  | { readonly type: "turn/diff/updated"; readonly diff: string }
  /** All changes of a file change item that is in progress, as far as they are known. */
  | {
      readonly type: "item/fileChange/patchUpdated";
      readonly itemId: string;
      readonly changes: readonly FileUpdateChange[];
    }
  | { readonly type: "item/mcpToolCall/progress"; readonly itemId: string; readonly message: string }
  | {
      readonly type: "usage";
      readonly last: TokenUsage;
      /** Number of model calls that it covers; absent: one. */
      readonly calls?: number;
      /** The item of the call that started the sub-agent, if a sub-agent made this call. */
      readonly parentItemId?: string;
      readonly modelContextWindow?: number;
      /** The cost of this one call; the core sums it up. */
      readonly cost?: Cost;
      /** Cost of this call by the price list, from an agent that reports the cost of its calls later. */
      readonly estimate?: Cost | undefined;
    }
  /** Cost of the turn so far, by the agent's own count; the cost itself comes with its usage. */
  | { readonly type: "costSoFar"; readonly cost: Cost }
  | { readonly type: "error"; readonly error: TurnError; readonly willRetry: boolean }
  | {
      readonly type: "model/rerouted";
      readonly fromModel: string;
      readonly toModel: string;
      readonly reason: string;
    }
  /** Something the user should know; `reason` is what it is about. */
  | {
      readonly type: "warning";
      readonly message: string;
      readonly reason: WarningReason;
      readonly details?: string | undefined;
    }
  /** Usage limits of the agent's account. Those that are not named stay as they were. */
  | { readonly type: "limits"; readonly limits: readonly ReportedLimit[] }
  /** All slash commands that the agent takes as the beginning of a prompt. */
  | { readonly type: "commands"; readonly commands: readonly AgentCommand[] }
  /** The agent's own session, and what all of it has cost by the agent's count. */
  | { readonly type: "session"; readonly nativeId: string; readonly cost?: Cost }
  /** The current end of the agent's own session, for a later copy that stops there. The last one counts. */
  | { readonly type: "position"; readonly position: string }
  | {
      readonly type: "extension";
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    };

/** The subject of an agent's warning: anything, its configuration, or what it will no longer support. */
export type WarningReason = "agent" | "configuration" | "deprecation";

/** The outcome of a turn, according to the agent. */
export type TurnOutcome =
  | { readonly status: "completed" }
  | { readonly status: "interrupted" }
  | { readonly status: "failed"; readonly error: TurnError };

const CANCELLED: Decision = { outcome: "cancel", scope: "once", message: "The turn has ended." };

const ENDED = failedToolCall("The turn has ended.");

/** A turn whose pending requests end when the signal is aborted, whether or not they are answered. */
export function stoppableTurn(turn: TurnContext, signal: AbortSignal): TurnContext {
  return {
    turnId: turn.turnId,
    kind: turn.kind,
    input: turn.input,
    settings: turn.settings,
    review: turn.review,
    outputSchema: turn.outputSchema,
    agentInitiated: turn.agentInitiated,
    signal,
    clientFiles: () => turn.clientFiles?.(),
    emit: (event) => turn.emit(event),
    ready: () => orAborted(turn.ready(), signal, undefined),
    approve: (action, guarantees) => orAborted(turn.approve(action, guarantees), signal, CANCELLED),
    ask: (itemId, questions) => orAborted(turn.ask(itemId, questions), signal, {}),
    callTool: (call) => orAborted(turn.callTool(call), signal, ENDED),
    explainCommand: async (...command) => orAborted(explained(turn, command), signal, undefined),
  };
}

async function explained(
  turn: TurnContext,
  command: Parameters<NonNullable<TurnContext["explainCommand"]>>,
): Promise<string | undefined> {
  return turn.explainCommand?.(...command);
}

/** The result of a promise, or `otherwise` as soon as the signal is aborted. */
export function orAborted<Value, Otherwise>(
  work: Promise<Value>,
  signal: AbortSignal,
  otherwise: Otherwise,
): Promise<Value | Otherwise> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(otherwise);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
