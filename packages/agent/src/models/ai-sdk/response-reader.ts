import { isRecord, type TokenUsage } from "@flint/protocol";
import type { FinishReason, ModelPart, ToolCall } from "../model.ts";
import { CleanStream, cleanJson, cleanText } from "./clean-text.ts";
import type { StepFinish, StepUsage, StreamPart } from "./language-model.ts";
import { type Problem, ProblemError } from "./problem.ts";
import { MetadataRecorder } from "./provider-metadata.ts";

/** Maximum amount of text and number of calls of one response. */
export interface ResponseLimits {
  readonly textCharacters: number;
  readonly argumentCharacters: number;
  readonly calls: number;
}

type CallPart = Extract<ModelPart, { type: "tool-call" }>;

/**
 * Converts the SDK's stream parts of one response into Flint's. Calls are returned only when the response is complete, so
 * that nothing runs because of half a response.
 */
export class ResponseReader {
  readonly #limits: ResponseLimits;
  readonly #providerMetadata = new MetadataRecorder();
  readonly #clean = { text: new CleanStream(), reasoning: new CleanStream() };
  readonly #calls: CallPart[] = [];
  /** The names of the tools whose input is followed, by the id of the call. */
  readonly #inputs = new Map<string, string | undefined>();
  #argumentCharacters = 0;
  #characters = 0;
  #hasText = false;
  #hasReasoning = false;
  #finish: { readonly reason: StepFinish; readonly usage: StepUsage } | undefined;

  constructor(limits: ResponseLimits) {
    this.#limits = limits;
  }

  /** Converts one part. Throws a ProblemError if the response cannot continue. */
  read(part: StreamPart): readonly ModelPart[] {
    switch (part.type) {
      case "text-start":
        this.#providerMetadata.begin("text", part.id, part.providerMetadata);
        return [];
      case "reasoning-start":
        this.#providerMetadata.begin("reasoning", part.id, part.providerMetadata);
        return this.#hasReasoning ? this.#text("reasoning", "\n\n") : [];
      case "text-delta":
        this.#providerMetadata.extend("text", part.id, part.delta, part.providerMetadata);
        return this.#text("text", part.delta);
      case "reasoning-delta":
        this.#providerMetadata.extend("reasoning", part.id, part.delta, part.providerMetadata);
        return this.#text("reasoning", part.delta);
      case "text-end":
        this.#providerMetadata.extend("text", part.id, "", part.providerMetadata);
        return [];
      case "reasoning-end":
        this.#providerMetadata.extend("reasoning", part.id, "", part.providerMetadata);
        return [];
      case "tool-input-start":
        // Of calls with the same id only the first is followed: the later ones get other ids when they are complete.
        if (this.#inputs.has(part.id)) this.#inputs.set(part.id, undefined);
        else if (this.#inputs.size < this.#limits.calls) this.#inputs.set(part.id, cleanText(part.toolName));
        return [];
      case "tool-input-delta":
        return this.#input(part.id, part.delta);
      case "tool-call":
        return this.#call(part);
      case "finish":
        this.#finish = { reason: part.finishReason, usage: part.usage };
        return [];
      case "error":
        throw new ProblemError(
          isUnfinished(part.error) ? { kind: "cut" } : { kind: "stream", thrown: part.error },
        );
      case "stream-start":
      case "response-metadata":
      case "tool-input-end":
      case "tool-result":
      case "tool-approval-request":
      case "source":
      case "file":
      case "raw":
        return [];
    }
  }

  /** Returns the remaining parts at the end of the stream. `mayBeEmpty`: the model may have nothing to add. */
  end(model: string, mayBeEmpty: boolean): readonly ModelPart[] {
    const finish = this.#finish;
    if (finish === undefined || isCut(finish.reason)) throw new ProblemError({ kind: "cut" });
    const rest = (["reasoning", "text"] as const).flatMap((kind) =>
      this.#delta(kind, this.#clean[kind].end()),
    );
    const reason = finishReason(finish.reason, this.#calls.length > 0);
    const isEmpty = !this.#hasText && this.#calls.length === 0 && reason === "stop";
    if (isEmpty && !mayBeEmpty) throw new ProblemError({ kind: "empty" });
    const providerMetadata = this.#providerMetadata.result(model);
    const usage = usageOf(finish.usage);
    return [
      ...rest,
      ...this.#calls,
      ...(providerMetadata === undefined ? [] : [{ type: "provider-metadata", providerMetadata } as const]),
      ...(usage === undefined ? [] : [{ type: "usage", usage } as const]),
      { type: "finish", reason },
    ];
  }

  #text(kind: "text" | "reasoning", delta: string): readonly ModelPart[] {
    this.#characters += delta.length;
    const { textCharacters } = this.#limits;
    if (this.#characters > textCharacters) throw flood(`more than ${textCharacters} characters of text`);
    return this.#delta(kind, this.#clean[kind].push(delta));
  }

  #delta(kind: "text" | "reasoning", text: string): readonly ModelPart[] {
    if (text === "") return [];
    if (kind === "reasoning") this.#hasReasoning = true;
    else if (text.trim() !== "") this.#hasText = true;
    return [{ type: `${kind}-delta`, text }];
  }

  #input(id: string, json: string): readonly ModelPart[] {
    this.#countArguments(json.length);
    const tool = this.#inputs.get(id);
    const callId = cleanText(id);
    if (tool === undefined || callId === "" || json === "") return [];
    return [{ type: "tool-input", callId, tool, json }];
  }

  #countArguments(characters: number): void {
    this.#argumentCharacters += characters;
    const { argumentCharacters } = this.#limits;
    if (this.#argumentCharacters > argumentCharacters)
      throw flood(`more than ${argumentCharacters} characters of tool arguments`);
  }

  #call({ toolCallId, toolName, input, providerMetadata }: Extract<StreamPart, { type: "tool-call" }>) {
    if (this.#calls.length >= this.#limits.calls) throw flood(`more than ${this.#limits.calls} tool calls`);
    if (input.length > this.#limits.argumentCharacters) this.#countArguments(input.length);
    const callId = this.#uniqueId(cleanText(toolCallId));
    this.#providerMetadata.call(callId, providerMetadata);
    this.#calls.push({ type: "tool-call", callId, tool: cleanText(toolName), ...argumentsOf(input) });
    return [];
  }

  /** Some servers send the same id for every call, or none. */
  #uniqueId(callId: string): string {
    const isTaken = callId === "" || this.#calls.some((call) => call.callId === callId);
    return isTaken ? `${callId || "call"}_${this.#calls.length + 1}` : callId;
  }
}

/** Parses the arguments of a call, or returns why they are invalid. */
function argumentsOf(text: string): Pick<ToolCall, "input" | "inputError"> {
  if (text.trim() === "") return { input: {} };
  // Expected: a model wrote something that is not JSON. It gets the error and can try again.
  try {
    const value = cleanJson(JSON.parse(text));
    if (isRecord(value)) return { input: value };
  } catch {
    return { input: {}, inputError: `The arguments are not valid JSON: ${shown(text)}` };
  }
  return { input: {}, inputError: `The arguments must be a JSON object, but were: ${shown(text)}` };
}

function shown(text: string): string {
  const start = cleanText(text.slice(0, 200));
  return text.length > 200 ? `${start} …` : start;
}

/** SDK providers report "other" without a raw reason when the stream was cut off before the finish reason. */
function isCut({ unified, raw }: StepFinish): boolean {
  return unified === "error" || (unified === "other" && raw === undefined);
}

/** The error of the SDK for a Chat Completions stream that ended early (@ai-sdk/openai-compatible 2.0). */
function isUnfinished(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_InvalidResponseDataError" && !hasData(error);
}

function hasData(error: object): boolean {
  return "data" in error && error.data !== undefined;
}

function finishReason({ unified }: StepFinish, hasCalls: boolean): FinishReason {
  if (unified === "length") return "length";
  if (unified === "content-filter") return "filtered";
  return hasCalls ? "tools" : "stop";
}

function flood(what: string): ProblemError {
  const problem: Problem = { kind: "flood", what };
  return new ProblemError(problem);
}

/** The usage of a response, in counts that do not overlap; undefined if the endpoint does not report it. */
export function usageOf({ inputTokens, outputTokens }: StepUsage): TokenUsage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  const cacheRead = count(inputTokens.cacheRead);
  const cacheWrite = count(inputTokens.cacheWrite);
  const thinking = count(outputTokens.reasoning);
  const input = inputTokens.noCache ?? count(inputTokens.total) - cacheRead - cacheWrite;
  const output = outputTokens.text ?? count(outputTokens.total) - thinking;
  return {
    inputTokens: count(input),
    outputTokens: count(output),
    ...(thinking === 0 ? {} : { thinkingTokens: thinking }),
    ...(cacheRead === 0 ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === 0 ? {} : { cacheWriteTokens: cacheWrite }),
  };
}

/** A valid count from any value that an endpoint sent. */
function count(tokens: number | undefined): number {
  return tokens !== undefined && Number.isFinite(tokens) && tokens > 0 ? Math.round(tokens) : 0;
}
