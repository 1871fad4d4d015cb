import type {
  Cost,
  ReasoningSummary,
  ReportedLimit,
  ReviewTarget,
  TokenUsage,
  TurnError,
  TurnKind,
} from "@flint/protocol";

/** A tool call of a model. Its result has the same id. */
export interface ToolCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Set if the arguments were not a JSON object: the call does not run, and this is its result. */
  readonly inputError?: string;
}

/** The result of a tool call, as the model gets it. */
export interface ToolResult {
  readonly status: "done" | "failed" | "declined";
  readonly text: string;
  readonly exitCode?: number;
  /** The size of a command's whole output, where the text may be only a part of it. */
  readonly printed?: { readonly bytes: number; readonly lines: number };
}

/** An image of a message. */
export interface MessageImage {
  readonly mediaType: string;
  readonly base64: string;
}

/** One message of the conversation between agent and model. An assistant message without calls ends the work. */
export type Message =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user"; readonly text: string; readonly images?: readonly MessageImage[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly ToolCall[];
      /** Metadata that the provider expects back with this message, such as signed reasoning. */
      readonly providerMetadata?: ProviderMetadata;
    }
  | ({ readonly role: "tool"; readonly callId: string; readonly tool: string } & ToolResult);

/** Content that a provider expects back unchanged. Only the model that sent it can read it. */
export interface ProviderMetadata {
  readonly model: string;
  readonly content: unknown;
}

/** A tool as the model sees it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of the input, always of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Everything that a model gets for one response. */
export interface ModelRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDescription[];
  readonly purpose: TurnKind;
  readonly review: ReviewTarget | undefined;
  /** The answer must be JSON that matches this schema. */
  readonly outputSchema: Readonly<Record<string, unknown>> | undefined;
  readonly temperature: number;
  /** The requested reasoning effort; models without such a parameter ignore it. */
  readonly reasoningEffort: string | undefined;
  /** Level of detail at which it summarizes its reasoning; models without such a parameter ignore it. */
  readonly summary?: ReasoningSummary | undefined;
}

/** The reason a model stopped. `length`: its output limit cut the response off. */
export type FinishReason = "stop" | "tools" | "length" | "filtered";

/** One part of a streamed response. `finish` is the last. */
export type ModelPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly text: string }
  /** The next part of the JSON of a call that the model is still writing. The whole call follows, unless the response breaks off. */
  | { readonly type: "tool-input"; readonly callId: string; readonly tool: string; readonly json: string }
  | ({ readonly type: "tool-call" } & ToolCall)
  | { readonly type: "provider-metadata"; readonly providerMetadata: ProviderMetadata }
  | { readonly type: "usage"; readonly usage: TokenUsage; readonly cost?: Cost }
  /** The request failed and is retried; at most input of calls was sent of this response, and none of these calls follows. */
  | { readonly type: "retry"; readonly error: TurnError }
  /** Usage limits of the provider's account that are reached, or nearly. */
  | { readonly type: "limits"; readonly limits: readonly ReportedLimit[] }
  | { readonly type: "finish"; readonly reason: FinishReason };

/** A model that Flint's own agent can run on. */
export interface Model {
  /** The size of its context window in tokens, if known. */
  readonly contextWindow: number | undefined;
  /** Streams one response. Stops soon after `signal` is aborted; throws a ModelFailure if the model fails. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

/** A failure of a model, with the error that ends the turn. */
export class ModelFailure extends Error {
  override readonly name = "ModelFailure";
  readonly error: TurnError;

  constructor(error: TurnError, options?: ErrorOptions) {
    super(error.message, options);
    this.error = error;
  }
}

/** Estimates the number of tokens in so many characters. */
export function tokensInCharacters(characters: number): number {
  return Math.ceil(characters / 4);
}
