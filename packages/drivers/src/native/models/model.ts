import type { PlanEntry, ReviewTarget, TokenUsage, TurnKind, UserQuestion } from "@flint/protocol";

/** What a model wants to have done. The id ties the result to it. */
export interface ToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What came of a tool call, as the model is told. */
export interface ToolResult {
  readonly status: "done" | "failed" | "declined";
  readonly text: string;
  readonly exitCode?: number;
}

/** One message of the conversation between agent and model. An assistant without calls has finished its work. */
export type Message =
  | { readonly role: "system" | "user"; readonly text: string }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly ToolCall[] }
  | ({ readonly role: "tool"; readonly callId: string; readonly tool: string } & ToolResult);

/** A tool as a model sees it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
}

/** All that a model gets for one step. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDescription[];
  readonly purpose: TurnKind;
  readonly review: ReviewTarget | undefined;
  /** The answer has to be JSON that fits this. */
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly temperature: number;
}

/** What a model gives, piece by piece. After `finish` nothing comes. */
export type ModelPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | ({ readonly type: "tool-call" } & ToolCall)
  /** The whole plan as it is now. */
  | { readonly type: "plan"; readonly explanation: string; readonly entries: readonly PlanEntry[] }
  /** The answers come back as the result of a call with this id. */
  | { readonly type: "question"; readonly callId: string; readonly questions: readonly UserQuestion[] }
  | { readonly type: "usage"; readonly usage: TokenUsage }
  | { readonly type: "finish" };

/** Something that can work as the mind of Flint's own agent. */
export interface Model {
  /** One step. Stops soon after `signal` is aborted; throws a FlintError if the model fails. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

/** About how many tokens so many characters are, without asking any tokenizer. */
export function tokensInCharacters(characters: number): number {
  return Math.ceil(characters / 4);
}
