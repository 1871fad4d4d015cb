import type { Clock } from "@flint/core/ports";
import type { TurnError } from "@flint/protocol";
import { pause } from "../clock.ts";
import { type Model, ModelFailure, type ModelPart, type ModelRequest } from "../model.ts";
import { costOf } from "../prices.ts";
import { toolNamed } from "./call-options.ts";
import { parseErrorBody } from "./error-body.ts";
import { describeProblem, type EndpointInfo, type Failure } from "./failures.ts";
import { type ConnectionLimits, HttpConnection } from "./http-connection.ts";
import type { CallOptions, LanguageModel } from "./language-model.ts";
import { type Problem, ProblemError, RETRY_POLICY, type RetryPolicy, retryDelay } from "./problem.ts";
import { type ResponseLimits, ResponseReader } from "./response-reader.ts";

/** What is taken of one step at most. */
export type Limits = ConnectionLimits & ResponseLimits;

export const LIMITS: Limits = {
  idleMs: 120_000,
  answerBytes: 64 * 1_048_576,
  lineBytes: 8 * 1_048_576,
  textCharacters: 2_000_000,
  argumentCharacters: 2_000_000,
  calls: 128,
};

/** A real model: who it is, how it is asked, and how to make it for one connection. */
export interface AiSdkOptions {
  /** Flint's full id, such as `flint/anthropic/claude-opus-5-5`. */
  readonly id: string;
  readonly contextWindow: number | undefined;
  readonly endpoint: EndpointInfo;
  /** The name its price is listed under, if it is billed by the list. */
  readonly priceName: string | undefined;
  connect(fetch: HttpConnection["fetch"]): Promise<LanguageModel>;
  callOptions(request: ModelRequest, refused: ReadonlySet<string>): CallOptions;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly retry?: RetryPolicy;
}

/** A model behind one of the AI SDK's providers. Everything it sends is bounded, and every failure has words. */
export class AiSdkModel implements Model {
  readonly #options: AiSdkOptions;
  readonly #policy: RetryPolicy;
  /** Parameters that the endpoint does not take; known from its own refusals. */
  readonly #refused = new Set<string>();

  constructor(options: AiSdkOptions) {
    this.#options = options;
    this.#policy = options.retry ?? RETRY_POLICY;
  }

  get contextWindow(): number | undefined {
    return this.#options.contextWindow;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    for (let tries = 1; !signal.aborted; ) {
      let hasBegun = false;
      const wire = new HttpConnection(this.#options.clock, this.#options.limits, signal);
      // Expected: whatever an endpoint can do wrong. It is tried again while nothing of the step has been given.
      try {
        for await (const part of this.#step(request, wire)) {
          hasBegun = true;
          yield part;
        }
        return;
      } catch (thrown) {
        wire.close();
        if (signal.aborted) return;
        const problem = problemOf(thrown, wire);
        if (!hasBegun && this.#learns(problem)) continue;
        const failure = this.#failure(problem, wire);
        if (hasBegun || !failure.isTransient) throw new ModelFailure(failure.error, { cause: thrown });
        tries += 1;
        const wait = this.#wait(failure, tries, thrown);
        yield { type: "retry", error: retried(failure.error, wait, tries, this.#policy.attempts) };
        await pause(this.#options.clock, wait, signal);
      } finally {
        wire.close();
      }
    }
  }

  async *#step(request: ModelRequest, wire: HttpConnection): AsyncIterable<ModelPart> {
    const { id, limits } = this.#options;
    const model = await this.#options.connect(wire.fetch);
    const { stream } = await wire.withIdleTimeout(
      model.doStream(this.#options.callOptions(request, this.#refused)),
    );
    const source = stream.getReader();
    const reader = new ResponseReader(limits);
    for (
      let next = await wire.withIdleTimeout(source.read());
      !next.done;
      next = await wire.withIdleTimeout(source.read())
    )
      yield* reader.read(next.value);
    const isAfterTool = request.messages.at(-1)?.role === "tool";
    for (const part of reader.end(id, isAfterTool)) yield this.#completed(part, request);
  }

  /** A part with what only the request and the price list know. */
  #completed(part: ModelPart, { tools }: ModelRequest): ModelPart {
    if (part.type === "tool-call") return { ...part, tool: toolNamed(part.tool, tools) };
    const { priceName } = this.#options;
    if (part.type !== "usage" || priceName === undefined) return part;
    const cost = costOf(priceName, part.usage);
    return cost === undefined ? part : { ...part, cost };
  }

  /** Whether the endpoint refused a mere extra, which is then left out. */
  #learns(problem: Problem): boolean {
    if (problem.kind !== "status" || problem.status !== 400) return false;
    const { parameter } = parseErrorBody(problem.body);
    if (parameter === undefined || !EXTRAS.has(parameter) || this.#refused.has(parameter)) return false;
    this.#refused.add(parameter);
    return true;
  }

  #failure(problem: Problem, wire: HttpConnection): Failure {
    return describeProblem(problem, this.#options.endpoint, wire.excerpt, this.#options.clock.now());
  }

  /** How long to wait for the next try; throws if there is to be none. */
  #wait(failure: Failure, next: number, cause: unknown): number {
    const { attempts, maxDelayMs } = this.#policy;
    const wait = retryDelay(next, failure.retryAfterMs, this.#policy);
    const end = (why: string) =>
      new ModelFailure({ ...failure.error, message: `${failure.error.message} ${why}` }, { cause });
    if (wait > maxDelayMs)
      throw end(
        `It asks to wait ${inWords(wait)}, which is longer than Flint waits by itself (${inWords(maxDelayMs)}). Try again then.`,
      );
    if (next > attempts) throw end(`It was tried ${attempts} times.`);
    return wait;
  }
}

/** Parameters that only make an answer nicer, by the names endpoints give them. */
const EXTRAS: ReadonlySet<string> = new Set(["reasoning.summary", "temperature", "stream_options"]);

/** The connection knows best; after that whoever said precisely what it is. */
function problemOf(thrown: unknown, wire: HttpConnection): Problem {
  if (wire.problem !== undefined) return wire.problem;
  if (thrown instanceof ProblemError) return thrown.problem;
  if (!wire.isSent) return { kind: "request", thrown };
  return { kind: "stream", thrown };
}

function retried(error: TurnError, wait: number, next: number, tries: number): TurnError {
  return {
    ...error,
    message: `${error.message} Try ${next} of ${tries} in ${inWords(wait)}.`,
  };
}

function inWords(milliseconds: number): string {
  if (milliseconds < 60_000) return `${Math.round(milliseconds / 100) / 10} s`;
  return `${Math.ceil(milliseconds / 60_000)} min`;
}
