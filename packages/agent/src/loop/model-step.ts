import { orAborted, type TurnContext } from "@flint/core/ports";
import { visibleText } from "@flint/core/text";
import type { PlanEntry, TokenUsage } from "@flint/protocol";
import { boundedJson } from "../bounded-json.ts";
import type {
  FinishReason,
  Message,
  Model,
  ModelPart,
  ModelRequest,
  ProviderMetadata,
  ToolCall,
} from "../models/model.ts";

/** Reports what happens in one turn, in order, and hands out the ids of its items. */
export interface TurnReport {
  /** Reports usage with this context size from now on. */
  setWindow(modelContextWindow: number): void;
  /** Reports one part of a model's response. */
  part(part: ModelPart): void;
  /** Reports the whole plan as it is now; the id is for its item if this is the first plan of the turn. */
  plan(itemId: string, explanation: string, entries: readonly PlanEntry[]): void;
  /** Completes every open item. */
  end(): void;
  /** Returns an id for an item that is reported elsewhere. */
  takeItemId(): string;
  /** Returns the item of a call: a new id, or that of the file change that started while the model wrote the call. */
  itemOfCall(callId: string): CallItem;
}

/** The item of a call. */
export interface CallItem {
  readonly itemId: string;
  /** True if it has started, as a file change without changes. */
  readonly isStarted: boolean;
}

/** The number of parts that are reported before waiting for the log. */
const PARTS_PER_WAIT = 16;

/** Maximum number of calls of one response that are run. */
const MAX_CALLS = 100;

/** One whole response of a model. */
export interface ModelResponse {
  readonly message: Extract<Message, { role: "assistant" }>;
  readonly reason: FinishReason;
  readonly usage: TokenUsage | undefined;
}

/** Runs one model step: reports every part as it arrives and collects the response. */
export async function runModelStep(
  model: Model,
  request: ModelRequest,
  turn: TurnContext,
  signal: AbortSignal,
  report: Pick<TurnReport, "part">,
): Promise<ModelResponse> {
  const calls: ToolCall[] = [];
  let text = "";
  let providerMetadata: ProviderMetadata | undefined;
  let reason: FinishReason = "stop";
  let usage: TokenUsage | undefined;
  for await (const part of partsOf(model, request, turn, signal)) {
    report.part(part);
    if (part.type === "text-delta") text += part.text;
    if (part.type === "provider-metadata") providerMetadata = part.providerMetadata;
    if (part.type === "finish") reason = part.reason;
    if (part.type === "usage") usage = part.usage;
    if (part.type === "tool-call" && calls.length < MAX_CALLS) calls.push(callOf(part));
  }
  const metadata = providerMetadata === undefined ? {} : { providerMetadata };
  return { message: { role: "assistant", text: visibleText(text), calls, ...metadata }, reason, usage };
}

/** No real input is deeper. */
const MAX_INPUT = { depth: 32, characters: Number.POSITIVE_INFINITY };

function callOf({ callId, tool, input, inputError }: ToolCall): ToolCall {
  // An object stays an object; only its strings are repaired.
  const wellFormed = boundedJson(input, MAX_INPUT) as ToolCall["input"];
  return { callId, tool, input: wellFormed, ...(inputError === undefined ? {} : { inputError }) };
}

/** The parts of a response, until the turn is interrupted. Waits for the log now and then. */
async function* partsOf(
  model: Model,
  request: ModelRequest,
  turn: TurnContext,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  if (signal.aborted) return;
  const parts = model.stream(request, signal)[Symbol.asyncIterator]();
  let count = 0;
  try {
    for (;;) {
      const next = await orAborted(parts.next(), signal, undefined);
      if (next === undefined || next.done === true || signal.aborted) return;
      yield next.value;
      count += 1;
      if (count % PARTS_PER_WAIT === 0) await turn.ready();
    }
  } finally {
    // Not awaited: a model that does not stop must not hold the turn.
    void parts.return?.().catch(() => undefined);
  }
}
