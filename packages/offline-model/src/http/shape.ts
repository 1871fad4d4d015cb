import type { FinishReason, ModelPart, ModelRequest } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import type { CallersTools } from "./callers-tools.ts";

/** What a caller asked for, in Flint's words. */
export interface ModelCall {
  readonly model: string;
  readonly streaming: boolean;
  readonly request: ModelRequest;
  readonly tools: CallersTools;
  /** Only a name for the conversation is wanted. */
  readonly isTitle: boolean;
}

/** One event of a stream; without a name only its data is sent. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: unknown;
}

/** The answer to one call, as it comes about: each method gives the events that a streaming caller is sent. */
export interface Answer {
  begin(): readonly StreamEvent[];
  part(part: ModelPart): readonly StreamEvent[];
  end(reason: FinishReason, usage: TokenUsage): readonly StreamEvent[];
  /** What a streaming caller is told if the model fails in the middle. */
  fail(message: string): readonly StreamEvent[];
  /** The whole answer, after its end, for a caller that does not stream. */
  whole(): unknown;
}

/** One of the ways in which models are talked to over HTTP. */
export interface Shape {
  /** Throws a GivenError that names the field if the body is not what it has to be. */
  read(body: unknown): ModelCall;
  answer(call: ModelCall): Answer;
  /** The body of an answer that is a failure. */
  failure(status: number, message: string): unknown;
}
