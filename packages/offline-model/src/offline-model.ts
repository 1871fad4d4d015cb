import { tokensOf } from "@flint/agent/conversation";
import {
  type FinishReason,
  type Model,
  type ModelPart,
  type ModelRequest,
  tokensInCharacters,
} from "@flint/agent/model";
import { type Clock, KEEP_ALIVE_CLOCK } from "@flint/core/ports";
import type { TokenUsage } from "@flint/protocol";
import { respond } from "./intents/respond.ts";
import { ScriptPlayer } from "./script.ts";

/** Options of the offline model. */
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

  /** Counts the usage itself unless a script states it: at the start if the script does so first, and else at the end. */
  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    let usage: TokenUsage | undefined;
    let reason: FinishReason | undefined;
    let ending: FinishReason = "stop";
    let output = "";
    let thinking = "";
    let isFirst = true;
    let isReported = false;
    for await (const part of this.#player?.play(request, signal) ?? respond(request)) {
      if (signal.aborted) return;
      if (part.type === "usage") usage = part.usage;
      if (part.type === "finish") reason = part.reason;
      else if (part.type !== "usage" || isFirst) yield part;
      isReported ||= isFirst && part.type === "usage";
      isFirst = false;
      if (part.type === "text-delta") output += part.text;
      else if (part.type === "reasoning-delta") thinking += part.text;
      else if (part.type === "tool-call") {
        ending = "tools";
        output += JSON.stringify(part.input);
      }
    }
    if (signal.aborted) return;
    if (!isReported) yield { type: "usage", usage: usage ?? countUsage(request, output, thinking) };
    yield { type: "finish", reason: reason ?? ending };
  }
}

function countUsage({ messages }: ModelRequest, output: string, thinking: string): TokenUsage {
  return {
    inputTokens: tokensOf(messages),
    outputTokens: tokensInCharacters(output.length),
    ...(thinking === "" ? {} : { thinkingTokens: tokensInCharacters(thinking.length) }),
  };
}
