import { KEEP_ALIVE_CLOCK } from "@flint/agent";
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
import { respond } from "./intents/respond.ts";
import { ScriptPlayer } from "./script/script-player.ts";

/** How the offline model works. */
export interface OfflineOptions {
  /** A script file that says what it does in each call; it is read with the first one. */
  readonly script?: string | undefined;
  /** Measures the delays of a script. */
  readonly clock?: Clock;
  /** Throws failures of a script that ask for a retry, for a client that retries itself. */
  readonly throwsRetries?: boolean;
}

/**
 * A model that follows fixed rules or a script: the same conversation always gets the same answer. It needs no key and
 * no network. With a script it remembers which steps were played, so each conversation needs its own instance.
 */
export class OfflineModel implements Model {
  readonly contextWindow = undefined;
  readonly #player: ScriptPlayer | undefined;

  constructor({ script, clock = KEEP_ALIVE_CLOCK, throwsRetries = false }: OfflineOptions = {}) {
    this.#player =
      script === undefined ? undefined : new ScriptPlayer({ path: script, clock, throwsRetries });
  }

  /** Reads the script, if there is one, so that a mistake in it shows at once. */
  async load(): Promise<void> {
    await this.#player?.load();
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    const counter = new UsageCounter(request);
    for await (const part of this.#player?.play(request, signal) ?? respond(request)) {
      if (signal.aborted) return;
      counter.add(part);
      if (part.type !== "usage" && part.type !== "finish") yield part;
    }
    if (signal.aborted) return;
    yield { type: "usage", usage: counter.usage };
    yield { type: "finish", reason: counter.reason };
  }
}

/** Counts what a response uses, unless a script says it. */
class UsageCounter {
  readonly #request: ModelRequest;
  #text = 0;
  #reasoning = 0;
  #hasCalls = false;
  #usage: TokenUsage | undefined;
  #reason: FinishReason | undefined;

  constructor(request: ModelRequest) {
    this.#request = request;
  }

  add(part: ModelPart): void {
    if (part.type === "usage") this.#usage = part.usage;
    else if (part.type === "finish") this.#reason = part.reason;
    else if (part.type === "reasoning-delta") this.#reasoning += part.text.length;
    else if (part.type === "text-delta") this.#text += part.text.length;
    else if (part.type === "tool-call") {
      this.#hasCalls = true;
      this.#text += JSON.stringify(part.input).length;
    }
  }

  get usage(): TokenUsage {
    if (this.#usage !== undefined) return this.#usage;
    const inputTokens = tokensOf(this.#request.messages);
    const usage = { inputTokens, outputTokens: tokensInCharacters(this.#text) };
    return this.#reasoning === 0 ? usage : { ...usage, thinkingTokens: tokensInCharacters(this.#reasoning) };
  }

  get reason(): FinishReason {
    return this.#reason ?? (this.#hasCalls ? "tools" : "stop");
  }
}
