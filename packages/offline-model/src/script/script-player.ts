import { pause } from "@flint/agent";
import { ModelFailure, type ModelPart, type ModelRequest } from "@flint/agent/model";
import type { Clock } from "@flint/core/ports";
import { streamText } from "../intents/respond.ts";
import { readScript, type ScriptPart, type ScriptStep } from "./script.ts";

/** A failure that a script asked for. */
export class ScriptedFailure extends ModelFailure {
  /** Seconds until the request may be retried. */
  readonly retryAfter: number | undefined;

  constructor({ message, status, retryAfter }: Extract<ScriptPart, { type: "error" }>) {
    super({ message, errorInfo: "AgentFailed", ...(status === undefined ? {} : { httpStatusCode: status }) });
    this.retryAfter = retryAfter;
  }
}

/** A stream that a script cut off in the middle. */
export class CutStream extends ModelFailure {
  constructor() {
    super({ message: "The response of the model was cut off.", errorInfo: "AgentFailed" });
  }
}

/** A tool call of a script. */
export type ScriptedCall = Extract<ModelPart, { type: "tool-call" }> & {
  /** The arguments as they are, where they are not a JSON object. */
  readonly raw?: string;
};

/** How a script is played. */
export interface PlayerOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Throws failures that ask for a retry, for a client that retries itself. */
  readonly throwsRetries: boolean;
}

/** Plays a script: every call of the model takes the first step that matches and was not taken yet. */
export class ScriptPlayer {
  readonly #options: PlayerOptions;
  readonly #taken = new Set<ScriptStep>();
  #steps: Promise<readonly ScriptStep[]> | undefined;
  #calls = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  /** Reads the file, once. */
  load(): Promise<readonly ScriptStep[]> {
    this.#steps ??= readScript(this.#options.path);
    return this.#steps;
  }

  async *play(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    const { path, clock, throwsRetries } = this.#options;
    const step = await this.#take(request);
    if (step === undefined) return yield* streamText(`The script ${path} has no step left for this request.`);
    for (const part of step.parts) {
      if (signal.aborted) return;
      if (part.type === "error" && part.retryAfter !== undefined && !throwsRetries) {
        yield { type: "retry", error: new ScriptedFailure(part).error };
        await pause(clock, part.retryAfter * 1000, signal);
        return yield* this.play(request, signal);
      }
      if (part.type === "delay") await pause(clock, part.milliseconds, signal);
      else yield* this.#parts(part, signal);
    }
  }

  async #take({ messages }: ModelRequest): Promise<ScriptStep | undefined> {
    const prompt = messages.findLast(({ role }) => role === "user")?.text ?? "";
    const steps = await this.load();
    const step = steps.find((each) => !this.#taken.has(each) && (each.when?.test(prompt) ?? true));
    if (step !== undefined) this.#taken.add(step);
    return step;
  }

  *#parts(part: Exclude<ScriptPart, { type: "delay" }>, signal: AbortSignal): Iterable<ModelPart> {
    switch (part.type) {
      case "text":
      case "reasoning":
        for (let time = 0; time < part.times && !signal.aborted; time += 1)
          yield* streamText(part.text, `${part.type}-delta`);
        return;
      case "call":
        yield this.#call(part);
        return;
      case "usage":
      case "finish":
        yield part;
        return;
      case "error":
        throw new ScriptedFailure(part);
      case "cut":
        throw new CutStream();
    }
  }

  #call({ tool, input, id, raw }: Extract<ScriptPart, { type: "call" }>): ScriptedCall {
    this.#calls += 1;
    const broken =
      raw === undefined ? {} : { raw, inputError: `The arguments are not a JSON object: ${raw}` };
    return { type: "tool-call", callId: id ?? `script_call_${this.#calls}`, tool, input, ...broken };
  }
}
