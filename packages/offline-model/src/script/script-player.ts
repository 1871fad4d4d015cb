import { pause } from "@flint/agent";
import { ModelFailure, type ModelPart, type ModelRequest } from "@flint/agent/model";
import type { Clock } from "@flint/core/ports";
import { streamText } from "../intents/respond.ts";
import { readScript, type ScriptPart, type ScriptStep } from "./script.ts";

type Part<Field extends string> = Extract<ScriptPart, Readonly<Record<Field, unknown>>>;

/** A failure that a script asked for. */
export class ScriptedFailure extends ModelFailure {
  /** Seconds until the request may be retried. */
  readonly retryAfter: number | undefined;

  constructor({ message, status, retry_after }: Part<"error">["error"]) {
    super({ message, errorInfo: "AgentFailed", ...(status === undefined ? {} : { httpStatusCode: status }) });
    this.retryAfter = retry_after;
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
      if ("delay" in part) await pause(clock, part.delay, signal);
      else if ("error" in part) {
        const failure = new ScriptedFailure(part.error);
        if (failure.retryAfter === undefined || throwsRetries) throw failure;
        yield { type: "retry", error: failure.error };
        await pause(clock, failure.retryAfter * 1000, signal);
        return yield* this.play(request, signal);
      } else yield* this.#parts(part, signal);
    }
  }

  async #take({ messages }: ModelRequest): Promise<ScriptStep | undefined> {
    const prompt = messages.findLast(({ role }) => role === "user")?.text ?? "";
    const steps = await this.load();
    const step = steps.find((each) => !this.#taken.has(each) && (each.when?.test(prompt) ?? true));
    if (step !== undefined) this.#taken.add(step);
    return step;
  }

  *#parts(
    part: Exclude<ScriptPart, Part<"delay"> | Part<"error">>,
    signal: AbortSignal,
  ): Iterable<ModelPart> {
    if ("text" in part) yield* repeated(part.text, part.times, signal);
    else if ("repeat" in part) yield* repeated(part.repeat, part.times, signal);
    else if ("reasoning" in part) yield* repeated(part.reasoning, part.times, signal, "reasoning-delta");
    else if ("call" in part) yield this.#call(part);
    else if ("usage" in part) yield { type: "usage", usage: part.usage };
    else if ("finish" in part) yield { type: "finish", reason: part.finish };
    else throw new CutStream();
  }

  #call({ call: tool, input = {}, id, raw }: Part<"call">): ScriptedCall {
    this.#calls += 1;
    const broken =
      raw === undefined ? {} : { raw, inputError: `The arguments are not a JSON object: ${raw}` };
    return { type: "tool-call", callId: id ?? `script_call_${this.#calls}`, tool, input, ...broken };
  }
}

function* repeated(
  text: string,
  times = 1,
  signal: AbortSignal,
  type: "text-delta" | "reasoning-delta" = "text-delta",
): Iterable<ModelPart> {
  for (let time = 0; time < times && !signal.aborted; time += 1) yield* streamText(text, type);
}
