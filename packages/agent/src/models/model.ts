import type { Cost, ReviewTarget, TokenUsage, TurnError, TurnKind } from "@flint/protocol";

/** What a model wants to have done. The id ties the result to it. */
export interface ToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Why `input` is not what the model wrote: its arguments were no JSON object. The call is answered with this. */
  readonly inputError?: string;
}

/** What came of a tool call, as the model is told. */
export interface ToolResult {
  readonly status: "done" | "failed" | "declined";
  readonly text: string;
  readonly exitCode?: number;
  /** All that a command printed, where the text may be only a part of it. */
  readonly printed?: { readonly bytes: number; readonly lines: number };
}

/** A picture that goes with a message. */
export interface MessageImage {
  readonly mediaType: string;
  readonly base64: string;
}

/** One message of the conversation between agent and model. An assistant without calls has finished its work. */
export type Message =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly text: string; readonly images?: readonly MessageImage[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** What the model itself gave to be shown again with this message, such as signed thinking. */
      readonly providerMetadata?: ProviderMetadata;
    }
  | ({ readonly role: "tool"; readonly callId: string; readonly tool: string } & ToolResult);

/** What a model wants to see again. Only the model that made it may read it. */
export interface ProviderMetadata {
  readonly model: string;
  readonly content: unknown;
}

/** A tool as a model sees it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of the input, always of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
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
  /** How hard the model should think, where it can be told. */
  readonly reasoningEffort: string | undefined;
}

/** Why a model stopped. `length`: its answer was cut off by the limit of its output. */
export type FinishReason = "stop" | "tools" | "length" | "filtered";

/** What a model gives, piece by piece. After `finish` nothing comes. */
export type ModelPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | ({ readonly type: "tool-call" } & ToolCall)
  | { readonly type: "provider-metadata"; readonly providerMetadata: ProviderMetadata }
  | { readonly type: "usage"; readonly usage: TokenUsage; readonly cost?: Cost }
  /** The request failed and is made again; nothing of this step had come yet. */
  | { readonly type: "retry"; readonly error: TurnError }
  | { readonly type: "finish"; readonly reason: FinishReason };

/** Something that can work as the mind of Flint's own agent. */
export interface Model {
  /** How many tokens it can see, if that is known. */
  readonly contextWindow: number | undefined;
  /** One step. Stops soon after `signal` is aborted; throws a ModelFailure if the model fails. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

/** A model that could not do a step, in the words that end the turn. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly error: TurnError;

  constructor(error: TurnError, options?: ErrorOptions) {
    super(error.message, options);
    this.error = error;
  }
}

/** About how many tokens so many characters are, without asking any tokenizer. */
export function tokensInCharacters(characters: number): number {
  return Math.ceil(characters / 4);
}
