import type {
  Approval,
  Item,
  PlanEntry,
  QuestionRequest,
  Turn,
  TurnError,
  UserQuestion,
} from "@flint/protocol";
import type { ClientRequest, QuestionAnswer } from "./asks/questions.ts";
import type { ClientCapabilities } from "./capabilities.ts";
import type { Login } from "./login.ts";
import type { OfferedCommand } from "./prompt/commands.ts";
import type { ConfigState } from "./sessions/config-options.ts";
import type { ToolView } from "./views/tool-view.ts";

/** The differences between the versions of the protocol. */
export interface ProtocolVersion {
  readonly version: 1 | 2;
  /** True if a prompt is answered once its message is in the conversation, not when its turn has ended. */
  readonly acknowledgesPrompts: boolean;
  /** The response to `initialize`. */
  initializeResponse(
    flintVersion: string,
    capabilities: ClientCapabilities,
    logins: readonly Login[],
  ): object;
  /** The response to a request that opens a session, without the session id. */
  sessionResponse(config: ConfigState, commands: readonly OfferedCommand[]): object;
  /** The config options as a response. */
  configOptions(config: ConfigState): readonly object[];
  /** Returns the updates for a change of the config of an open session. */
  configUpdates(sent: SentConfig, config: ConfigState, capabilities: ClientCapabilities): readonly Update[];
  /** Returns the updates that offer commands after a session was opened. */
  commandUpdates(commands: readonly OfferedCommand[]): readonly Update[];
  /** Returns the updates for a change of the commands of an open session. */
  changedCommands(commands: readonly OfferedCommand[]): readonly Update[];
  /** The updates for clients with these capabilities. */
  updates(capabilities: ClientCapabilities): UpdateFormat;
}

/** The config that a client was last sent. */
export interface SentConfig {
  readonly modeId: string;
  readonly modelId: string;
  /** All config options, encoded. */
  readonly options: string;
}

/** A session update of either protocol version. */
export interface Update {
  readonly sessionUpdate: string;
}

/** The kind of a text: the agent's answer, or its reasoning. */
export type TextKind = "message" | "thought";

/** The state of a session. */
export type SessionState = "running" | "requires_action" | "idle";

/**
 * The form of a running command's output: chunks to a terminal, or the tail so far in the content of its tool
 * call.
 */
export type CommandOutput =
  | { readonly type: "chunks"; chunk(itemId: string, text: string): Update }
  | { readonly type: "tail"; tail(itemId: string, text: string): Update };

/** Number of characters of each reasoning text that the client already has. */
export interface SentReasoning {
  readonly summary: number;
  readonly content: number;
}

/**
 * The updates of one protocol version for clients with the same capabilities. All methods are pure; an empty list means
 * that the version has no update for it.
 */
export interface UpdateFormat {
  /** Formats with the same key produce the same updates. */
  readonly key: string;
  /** True if clients get their own prompts back as updates. */
  readonly echoesPrompts: boolean;
  readonly commandOutput: CommandOutput;
  textChunk(kind: TextKind, itemId: string, text: string): Update;
  /** The text of an item of which the client has the first `sent` characters. */
  text(kind: TextKind, itemId: string, text: string, sent: number): readonly Update[];
  reasoning(item: Item<"reasoning">, sent: SentReasoning): readonly Update[];
  userMessage(item: Item<"userMessage">): readonly Update[];
  toolCall(view: ToolView, isNew: boolean): readonly Update[];
  /** A command runs in a terminal of the client. */
  terminal(itemId: string, terminalId: string): readonly Update[];
  reviewStarted(item: Item<"enteredReviewMode">): readonly Update[];
  compaction(item: Item<"contextCompaction">, status: "in_progress" | "completed"): readonly Update[];
  plan(turnId: string, entries: readonly PlanEntry[]): readonly Update[];
  notice(severity: "info" | "warning" | "error", title: string): readonly Update[];
  /** The state of a session outside of turns, or at their start. */
  state(state: SessionState, stopReason?: "end_turn"): readonly Update[];
  /** The state after a turn. */
  turnCompleted(turn: Turn): readonly Update[];
  /**
   * Returns the updates with the reason a turn failed, for a client that does not get the error as a
   * response.
   */
  turnFailed(turnId: string, error: TurnError): readonly Update[];
  /** A message from Flint itself. */
  message(messageId: string, text: string): readonly Update[];
  /** A message from Flint itself in the middle of the agent's. */
  aside(messageId: string, text: string): readonly Update[];
  permissionRequest(
    sessionId: string,
    approval: Approval,
    view: ToolView,
  ): { readonly method: string; readonly params: object };
  /** A multiple-choice question as a permission request, for clients without forms. */
  choiceRequest(
    sessionId: string,
    itemId: QuestionRequest["itemId"],
    question: UserQuestion,
  ): ClientRequest<QuestionAnswer>;
}
