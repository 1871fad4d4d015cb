import { ModelFailure, type ModelPart, type ModelRequest } from "@flint/agent/model";
import type { Clock } from "@flint/core/ports";
import { words } from "../intents/move.ts";
import { readScript, type ScriptPart, type ScriptStep } from "./script.ts";

/** A failure that a script asked for. */
export class ScriptedFailure extends ModelFailure {
  /** Seconds until the request may be made again. */
  readonly retryAfter: number | undefined;

  constructor({ message, status, retryAfter }: Extract<ScriptPart, { type: "error" }>) {
    super({
      message,
      errorInfo: "AgentFailed",
      ...(status === undefined ? {} : { httpStatusCode: status }),
    });
    this.retryAfter = retryAfter;
  }
}

/** A stream that a script cut off in the middle. */
export class CutStream extends ModelFailure {
  constructor() {
    super({ message: "The answer of the model was cut off.", errorInfo: "AgentFailed" });
  }
}

/** A call of a script. */
export type ScriptedCall = Extract<ModelPart, { type: "tool-call" }> & {
  /** The arguments word for word, where they are no JSON object. */
  readonly raw?: string;
};

/** How a script is played. */
export interface PlayerOptions {
  readonly path: string;
  readonly clock: Pick<Clock, "after">;
  /** Failures with a time to wait are left to the caller, who makes the request again. */
  readonly leavesRetries: boolean;
}

/** Plays a script: every call of the model takes the first step that fits and was not taken yet. */
export class ScriptPlayer {
  readonly #options: PlayerOptions;
  readonly #taken = new Set<ScriptStep>();
  #steps: Promise<readonly ScriptStep[]> | undefined;
  #calls = 0;

  constructor(options: PlayerOptions) {
    this.#options = options;
  }

  /** Reads the file now, so that a mistake in it is told before anyone waits for an answer. */
  async load(): Promise<void> {
    await this.#load();
  }

  async *play(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    const step = await this.#take(request);
    if (step === undefined) {
      for (const text of words(`The script ${this.#options.path} has no step left for this request.`)) {
        yield { type: "text-delta", text };
      }
      return;
    }
    for (const part of step.parts) {
      if (signal.aborted) return;
      if (part.type === "error" && this.#isRetried(part)) {
        yield { type: "retry", error: new ScriptedFailure(part).error };
        await this.#wait((part.retryAfter ?? 0) * 1000, signal);
        yield* this.play(request, signal);
        return;
      }
      yield* this.#partsOf(part, signal);
    }
  }

  #isRetried({ retryAfter }: Extract<ScriptPart, { type: "error" }>): boolean {
    return retryAfter !== undefined && !this.#options.leavesRetries;
  }

  #load(): Promise<readonly ScriptStep[]> {
    this.#steps ??= readScript(this.#options.path);
    return this.#steps;
  }

  async #take({ messages }: ModelRequest): Promise<ScriptStep | undefined> {
    const steps = await this.#load();
    const asked = messages.findLast(({ role }) => role === "user")?.text ?? "";
    const step = steps.find((each) => !this.#taken.has(each) && (each.when?.test(asked) ?? true));
    if (step !== undefined) this.#taken.add(step);
    return step;
  }

  async *#partsOf(part: ScriptPart, signal: AbortSignal): AsyncIterable<ModelPart> {
    switch (part.type) {
      case "text":
      case "reasoning":
        yield* textParts(part, signal);
        return;
      case "call":
        yield this.#call(part);
        return;
      case "usage":
        yield part;
        return;
      case "finish":
        yield part;
        return;
      case "delay":
        await this.#wait(part.milliseconds, signal);
        return;
      case "error":
        throw new ScriptedFailure(part);
      case "cut":
        throw new CutStream();
    }
  }

  #call({ tool, input, id, raw }: Extract<ScriptPart, { type: "call" }>): ScriptedCall {
    this.#calls += 1;
    const callId = id ?? `script_call_${this.#calls}`;
    const broken = raw === undefined ? {} : { raw, problem: `The arguments are not a JSON object: ${raw}` };
    return { type: "tool-call", callId, tool, input, ...broken };
  }

  /** Waits for so long, or until the signal says to stop. */
  #wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = () => {
        takeBack();
        resolve();
      };
      const takeBack = this.#options.clock.after(milliseconds, () => {
        signal.removeEventListener("abort", stop);
        resolve();
      });
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
  }
}

function* textParts(
  { type, text, times }: Extract<ScriptPart, { type: "text" | "reasoning" }>,
  signal: AbortSignal,
): Iterable<ModelPart> {
  const pieces = words(text);
  for (let time = 0; time < times; time += 1) {
    for (const piece of pieces) {
      if (signal.aborted) return;
      yield { type: type === "text" ? "text-delta" : "reasoning-delta", text: piece };
    }
  }
}
