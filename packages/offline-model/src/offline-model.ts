import { WAITING_CLOCK } from "@flint/agent";
import { tokensOf } from "@flint/agent/conversation";
import {
  type FinishReason,
  type Model,
  type ModelPart,
  type ModelRequest,
  tokensInCharacters,
} from "@flint/agent/model";
import type { Clock } from "@flint/core/ports";
import type { TokenUsage } from "@flint/protocol";
import { partsOf } from "./intents/move.ts";
import { nextMoves } from "./intents/moves.ts";
import { ScriptPlayer } from "./script/script-player.ts";

/** How the offline model should work. */
export interface OfflineOptions {
  /** A file that says what it does in each call; it is read with the first one. */
  readonly script?: string | undefined;
  /** What delays of a script are measured with. */
  readonly clock?: Pick<Clock, "after">;
  /** Failures of a script that ask for another try are thrown, for a caller that tries again by itself. */
  readonly leavesRetries?: boolean;
}

/**
 * A model that follows fixed rules, or a script: the same conversation always gets the same answer. It needs no key
 * and no network, and it says what it can do when it is asked for more. With a script it remembers which steps were
 * played, so one conversation needs one of it.
 */
export class OfflineModel implements Model {
  readonly contextWindow = undefined;
  readonly #player: ScriptPlayer | undefined;

  constructor({ script, clock = WAITING_CLOCK, leavesRetries = false }: OfflineOptions = {}) {
    this.#player =
      script === undefined ? undefined : new ScriptPlayer({ path: script, clock, leavesRetries });
  }

  /** Reads the script, if there is one, so that a mistake in it is told at once. */
  async load(): Promise<void> {
    await this.#player?.load();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    const tally = new Tally(request);
    for await (const part of this.#parts(request, signal)) {
      if (signal.aborted) return;
      tally.count(part);
      if (part.type !== "usage" && part.type !== "finish") yield part;
    }
    if (signal.aborted) return;
    yield { type: "usage", usage: tally.usage };
    yield { type: "finish", reason: tally.reason };
  }

  #parts(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    return this.#player?.play(request, signal) ?? ruled(request);
  }
}

async function* ruled(request: ModelRequest): AsyncIterable<ModelPart> {
  for (const move of nextMoves(request)) yield* partsOf(move);
}

/** Counts what a step takes; what a script says about it holds instead. */
class Tally {
  readonly #request: ModelRequest;
  #written = 0;
  #thought = 0;
  #calls = 0;
  #told: TokenUsage | undefined;
  #reason: FinishReason | undefined;

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  count(part: ModelPart): void {
    if (part.type === "usage") this.#told = part.usage;
    else if (part.type === "finish") this.#reason = part.reason;
    else if (part.type === "reasoning-delta") this.#thought += part.text.length;
    else if (part.type === "text-delta") this.#written += part.text.length;
    else if (part.type === "tool-call") {
      this.#calls += 1;
      this.#written += JSON.stringify(part.input).length;
    }
  }

  get usage(): TokenUsage {
    if (this.#told !== undefined) return this.#told;
    const inputTokens = tokensOf(this.#request.messages);
    const usage = { inputTokens, outputTokens: tokensInCharacters(this.#written) };
    return this.#thought === 0 ? usage : { ...usage, thinkingTokens: tokensInCharacters(this.#thought) };
  }

  get reason(): FinishReason {
    return this.#reason ?? (this.#calls > 0 ? "tools" : "stop");
  }
}
