import type { Model, ModelPart, ModelRequest, ToolCall } from "../models/model.ts";

/** One step of a scripted model: its parts, or a function of the request that may throw. */
export type ScriptedStep = readonly ModelPart[] | ((request: ModelRequest) => readonly ModelPart[]);

/** A model that plays steps in order and records its requests. After the last step it answers "done". */
export class ScriptedModel implements Model {
  readonly contextWindow: number | undefined;
  readonly requests: ModelRequest[] = [];
  readonly #steps: ScriptedStep[];

  constructor(steps: readonly ScriptedStep[], contextWindow?: number) {
    this.#steps = [...steps];
    this.contextWindow = contextWindow;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    this.requests.push(request);
    const step = this.#steps.shift() ?? textStep("done");
    for (const part of typeof step === "function" ? step(request) : step) {
      if (signal.aborted) return;
      yield part;
    }
  }
}

/** A step with a text, which ends the turn. */
export function textStep(text: string): readonly ModelPart[] {
  return [
    { type: "text-delta", text },
    { type: "usage", usage: { inputTokens: 10, outputTokens: 5 } },
    { type: "finish", reason: "stop" },
  ];
}

/** A step with tool calls, numbered within the step. */
export function toolStep(...calls: readonly Pick<ToolCall, "tool" | "input">[]): readonly ModelPart[] {
  return [
    ...calls.map(({ tool, input }, index): ModelPart => {
      return { type: "tool-call", callId: `${tool}-${index}`, tool, input };
    }),
    { type: "finish", reason: "tools" },
  ];
}
