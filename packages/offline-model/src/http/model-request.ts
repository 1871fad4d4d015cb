import type { Message, ModelRequest } from "@flint/agent/model";
import type { CallersTools } from "./callers-tools.ts";

/** What the offline model is asked, from a caller's conversation and tools. */
export function modelRequest(
  messages: readonly Message[],
  tools: CallersTools,
  outputSchema: ModelRequest["outputSchema"],
): ModelRequest {
  return {
    messages,
    tools: tools.descriptions,
    purpose: "prompt",
    review: undefined,
    outputSchema,
    temperature: 0,
    reasoningEffort: undefined,
  };
}
