import type {
  Action,
  Answers,
  ClientTool,
  ConfigOption,
  ConfigValues,
  Cost,
  Decision,
  DeltaType,
  Model,
  PlanEntry,
  ReviewTarget,
  ThreadItem,
  ThreadSettings,
  TokenUsage,
  ToolCallResult,
  Turn,
  TurnError,
  TurnKind,
  UserInput,
  UserQuestion,
} from "@flint/protocol";
import type { Sandbox } from "./sandbox.ts";

/**
 * One kind of agent. A plain value without state of its own: what runs lives in its sessions.
 * A feature that an agent lacks is an absent method, not a flag.
 */
export interface Driver {
  /** The part of a model id before the slash, and the thread's `modelProvider`. */
  readonly id: string;
  /** Set if its agents ask with `approve` before anything that may change files; others find everything saved before. */
  readonly asksFirst?: boolean;
  /** Set if each action of its agents that may write is asked about with `approve`, unless the policy is "never". */
  readonly asksToWrite?: boolean;
  /** Its sessions hold a process each, which is let go while a thread rests and taken up again by its own id. */
  readonly restsWhenIdle?: boolean;
  /** The models it offers; ids are `driver/model`. Must not start anything heavy. */
  models(): Promise<readonly Model[]>;
  /** The id of its default model, where that is known sooner than the whole list. */
  defaultModel?(): Promise<string>;
  /**
   * The full id of a model that can be used whether it is listed or not, also if the name leaves out the driver;
   * undefined if the name says nothing to this driver. Asks nobody. Throws a FlintError that says how to set it up.
   */
  qualify?(name: string): string | undefined;
  /**
   * Whether it is the agent of new threads where nobody chose one: it is on this machine and has what it needs. Must not
   * start anything. The first one that says so is it; if none does, the first of all.
   */
  isPreferred?(): Promise<boolean>;
  /** The selectors for a model, with `values` applied. One value may add, change or remove another selector. */
  options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]>;
  /** Starts or resumes the agent for one thread. Rejects with a FlintError that says how to set it up. */
  open(spec: SessionSpec): Promise<DriverSession>;
  account?(): Promise<Account>;
  mcpServers?(): Promise<readonly McpServerStatus[]>;
  /** Ends and removes what outlives its sessions. Called when the server ends, after the sessions were closed. */
  close?(): Promise<void>;
}

/** Who an agent works as. */
export interface Account {
  readonly account: { readonly type: string; readonly label?: string } | null;
  readonly requiresLogin: boolean;
}

/** How an MCP server of an agent is. */
export interface McpServerStatus {
  readonly name: string;
  readonly status: "starting" | "ready" | "failed";
  readonly error?: string;
}

/** What a session starts with. */
export interface SessionSpec {
  readonly threadId: string;
  readonly settings: ThreadSettings;
  /** The agent's own session id of an earlier time, if it had one. */
  readonly nativeId: string | undefined;
  /** The turns so far, for agents that keep no history themselves. */
  history(): Promise<readonly Turn[]>;
  /**
   * What the agent's own session does not know, for agents that keep their history themselves: the turns that other
   * agents did since, or all of them if there is no session of its own. Bounded text; empty if it knows everything.
   */
  account(): Promise<string>;
  /** A session that the thread can go on from a copy of: where it was forked from, or as it was before turns were dropped. */
  readonly forkOf?: NativeFork | undefined;
  /** Asks for a turn for what the agent does by itself. It gets one as soon as no other turn runs, or is refused. */
  startTurn?(work: UnaskedWork): void;
  /** The one way to start a command. */
  readonly sandbox: Sandbox;
  /** The MCP servers that the user configured for threads in this folder. */
  readonly mcpServers: readonly McpServerConfig[];
  /** The tools that a client offers and runs itself; an agent calls them with `TurnContext.callTool`. Absent: none. */
  readonly clientTools?: readonly ClientTool[] | undefined;
}

/** A call of a client's tool, as an agent makes it. */
export interface ClientToolCall {
  /** The item that shows the call. */
  readonly itemId: string;
  readonly tool: string;
  readonly namespace?: string | undefined;
  readonly arguments: unknown;
}

/**
 * An agent's own session, which knows turns of this thread. Given only where there is no `nativeId`. A driver that can make a
 * copy of it does, and goes on in the copy under an id of its own; the session itself stays as it is. One that cannot, or
 * whose agent refuses, goes on from `SessionSpec.account`.
 */
export interface NativeFork {
  readonly nativeId: string;
  /** Where the copy has to end; the whole session unless given. Only for drivers whose sessions tell their `position`. */
  readonly position?: string | undefined;
  /** What the copy does not know of this thread: as `SessionSpec.account`, but shorter. */
  account(): Promise<string>;
}

/** Work that an agent began by itself, as when something that it had left in the background came to its end. */
export interface UnaskedWork {
  /** Why, in words for the user. */
  readonly reason: string;
  /** Whether it needs a turn still: it may be gone with its agent, or have become a part of another turn. */
  isWaiting(): boolean;
  /** There is no turn for it, so it must come to an end. */
  refuse(): void;
}

/** An MCP server to connect to. Comes from the user, or from a workspace file whose content the user trusted. */
export type McpServerConfig =
  | {
      readonly type: "stdio";
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly type: "http";
      readonly name: string;
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** The agent of one thread. The core calls one `run` at a time. */
export interface DriverSession {
  /**
   * Does one turn. Resolves with how it ended, never hangs after `turn.signal` is aborted, and leaves no process of
   * this turn behind when it settles, except a command that the agent was asked to keep in the background of a turn
   * that completed. A rejection is a failed turn.
   */
  run(turn: TurnContext): Promise<TurnOutcome>;
  /** Adds input to the running turn. False: the turn took no more input. Absent: the agent cannot. */
  steer?(input: readonly UserInput[]): Promise<boolean>;
  /** Whether something that it was asked to keep in the background goes on between turns. Absent: never. */
  isBusy?(): boolean;
  /** Ends the agent and everything it started. */
  close(): Promise<void>;
}

/** What the core gives to a running turn. */
export interface TurnContext {
  readonly turnId: string;
  readonly kind: TurnKind;
  readonly input: readonly UserInput[];
  readonly settings: ThreadSettings;
  readonly review: ReviewTarget | undefined;
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  /** Set for work that the agent has begun by itself: the turn is to go on with it, and there is no input. */
  readonly unasked?: string | undefined;
  /** Aborted when the turn is to stop. */
  readonly signal: AbortSignal;
  /** Reports what happens. After the turn ended it does nothing. */
  emit(event: DriverEvent): void;
  /**
   * Resolves when the log has caught up and the budget lets the turn go on. A driver that can produce without end
   * awaits it now and then, one that calls a model itself before each call.
   */
  ready(): Promise<void>;
  /** Asks whether the agent may act; the policy answers, or a client does. Never rejects. */
  approve(action: Action, promise?: ActionPromise): Promise<Decision>;
  /** Asks the user. An empty record means that nobody answered. Never rejects. */
  ask(itemId: string, questions: readonly UserQuestion[]): Promise<Answers>;
  /** Has a client run a tool that it offers. What nobody does, or not in time, has failed. Never rejects. */
  callTool(call: ClientToolCall): Promise<ToolCallResult>;
}

/** What a driver itself sees to, whatever the action is: the policy may rely on it. */
export interface ActionPromise {
  /** Flint's own sandbox runs the command, so that neither it nor what it starts can write or reach the network. */
  readonly onlyReads?: boolean;
}

/** What a driver reports; the core adds thread, turn, place and time. */
export type DriverEvent =
  | { readonly type: "item/started" | "item/completed"; readonly item: ThreadItem }
  | { readonly type: DeltaType; readonly itemId: string; readonly delta: string }
  | { readonly type: "turn/plan/updated"; readonly explanation: string; readonly plan: readonly PlanEntry[] }
  | { readonly type: "turn/diff/updated"; readonly diff: string }
  | { readonly type: "item/mcpToolCall/progress"; readonly itemId: string; readonly message: string }
  | {
      readonly type: "usage";
      readonly last: TokenUsage;
      readonly modelContextWindow?: number;
      /** What this one call cost; the core adds it up. */
      readonly cost?: Cost;
    }
  | { readonly type: "error"; readonly error: TurnError; readonly willRetry: boolean }
  | {
      readonly type: "model/rerouted";
      readonly fromModel: string;
      readonly toModel: string;
      readonly reason: string;
    }
  | { readonly type: "session"; readonly nativeId: string }
  /** Where the agent's own session stands now, if a copy of it can be made that ends there later on. The last one counts. */
  | { readonly type: "position"; readonly position: string }
  | {
      readonly type: "extension";
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    };

/** How a turn ended, as the agent sees it. */
export type TurnOutcome =
  | { readonly status: "completed" }
  | { readonly status: "interrupted" }
  | { readonly status: "failed"; readonly error: TurnError };
