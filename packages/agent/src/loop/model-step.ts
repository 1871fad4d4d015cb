import { orAborted, type TurnContext } from "@flint/core/ports";
import type { TokenUsage } from "@flint/protocol";
import type {
  FinishReason,
  Message,
  Model,
  ModelPart,
  ModelRequest,
  ProviderMetadata,
  ToolCall,
} from "../models/model.ts";
import { visibleText, wellFormedValue } from "../text.ts";
import type { TurnReporter } from "./turn-reporter.ts";

/** How many parts are reported before the log is waited for. */
const PARTS_PER_WAIT = 16;

/** What a model may want done in one step. */
const CALLS = 100;

/** What came of one step of a model. */
export interface ModelResponse {
  readonly message: Extract<Message, { role: "assistant" }>;
  readonly reason: FinishReason;
  readonly usage: TokenUsage | undefined;
}

/** One step: everything the model says is told as it comes, what it wants is collected. */
export async function runModelStep(
  model: Model,
  request: ModelRequest,
  turn: TurnContext,
  signal: AbortSignal,
  report: Pick<TurnReporter, "part">,
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
    if (part.type === "tool-call" && calls.length < CALLS) calls.push(callOf(part));
  }
  const kept = providerMetadata === undefined ? {} : { providerMetadata };
  return { message: { role: "assistant", text: visibleText(text), calls, ...kept }, reason, usage };
}

function callOf({ callId, tool, input, inputError }: ToolCall): ToolCall {
  // An object stays an object; only its text is mended.
  const mended = wellFormedValue(input) as ToolCall["input"];
  return { callId, tool, input: mended, ...(inputError === undefined ? {} : { inputError }) };
}

/** The parts of a step, until the turn is to stop. Waits for the log now and then. */
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
    // Not waited for: a model that does not stop must not hold the turn.
    void parts.return?.().catch(() => undefined);
  }
}
