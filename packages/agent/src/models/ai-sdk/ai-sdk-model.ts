import { type Clock, pause } from "@flint/core/ports";
import type { ReportedLimit, TurnError } from "@flint/protocol";
import { type Model, ModelFailure, type ModelPart, type ModelRequest } from "../model.ts";
import { costAt, type Price } from "../prices.ts";
import { toolNamed } from "./call-options.ts";
import { describeProblem, type EndpointInfo, type Failure } from "./failures.ts";
import { type ConnectionLimits, HttpConnection } from "./http-connection.ts";
import type { CallOptions, LanguageModel } from "./language-model.ts";
import { limitsInHeaders, limitsOfRejection } from "./limit-headers.ts";
import {
  type Problem,
  ProblemError,
  parseErrorBody,
  RETRY_POLICY,
  type RetryPolicy,
  retryDelay,
} from "./problem.ts";
import { type ResponseLimits, ResponseReader } from "./response-reader.ts";

/** The limits of one response. */
export type Limits = ConnectionLimits & ResponseLimits;

export const LIMITS: Limits = {
  idleMs: 120_000,
  answerBytes: 64 * 1_048_576,
  lineBytes: 8 * 1_048_576,
  textCharacters: 2_000_000,
  argumentCharacters: 2_000_000,
  calls: 128,
};

/** A model of a provider: its identity, its call options, and how to connect to it. */
export interface AiSdkOptions {
  /** Flint's full id, such as `flint/anthropic/claude-opus-5-5`. */
  readonly id: string;
  readonly contextWindow: number | undefined;
  readonly endpoint: EndpointInfo;
  /** Its price, if that is known. */
  readonly price: Price | undefined;
  connect(fetch: HttpConnection["fetch"]): Promise<LanguageModel>;
  callOptions(request: ModelRequest, rejected: ReadonlySet<string>): CallOptions;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly retry?: RetryPolicy;
}

/** A model behind one of the AI SDK's providers. Everything it sends is bounded, and every failure is described. */
export class AiSdkModel implements Model {
  readonly #options: AiSdkOptions;
  readonly #policy: RetryPolicy;
  /** Optional parameters that the endpoint rejected; they are left out from then on. */
  readonly #rejected = new Set<string>();

  constructor(options: AiSdkOptions) {
    this.#options = options;
    this.#policy = options.retry ?? RETRY_POLICY;
  }

  get contextWindow(): number | undefined {
    return this.#options.contextWindow;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    for (let attempt = 1; !signal.aborted; ) {
      let hasBegun = false;
      const wire = new HttpConnection(this.#options.clock, this.#options.limits, signal);
      // Expected: any failure of an endpoint. The request is retried while nothing but the input of calls was yielded.
      try {
        for await (const part of this.#step(request, wire)) {
          if (part.type !== "limits" && part.type !== "tool-input") hasBegun = true;
          yield part;
        }
        return;
      } catch (thrown) {
        wire.close();
        if (signal.aborted) return;
        const problem = problemOf(thrown, wire);
        if (!hasBegun && this.#dropsParameter(problem)) continue;
        const failure = this.#failure(problem, wire);
        const limits = this.#limitsOfRejection(failure, wire);
        if (limits.length > 0) yield { type: "limits", limits };
        if (hasBegun || !failure.isTransient) throw new ModelFailure(failure.error, { cause: thrown });
        attempt += 1;
        const delay = this.#retryDelay(failure, attempt, thrown);
        yield { type: "retry", error: retried(failure.error, delay, attempt, this.#policy.attempts) };
        await pause(this.#options.clock, delay, signal);
      } finally {
        wire.close();
      }
    }
  }

  async *#step(request: ModelRequest, wire: HttpConnection): AsyncIterable<ModelPart> {
    const { id, limits } = this.#options;
    const model = await this.#options.connect(wire.fetch);
    const { stream } = await wire.withIdleTimeout(
      model.doStream(this.#options.callOptions(request, this.#rejected)),
    );
    const { endpoint, clock } = this.#options;
    const near = limitsInHeaders(wire.headers ?? new Headers(), endpoint.label, clock.now());
    if (near.length > 0) yield { type: "limits", limits: near };
    const source = stream.getReader();
    const reader = new ResponseReader(limits);
    for (
      let next = await wire.withIdleTimeout(source.read());
      !next.done;
      next = await wire.withIdleTimeout(source.read())
    )
      for (const part of reader.read(next.value)) yield this.#completed(part, request);
    const isAfterTool = request.messages.at(-1)?.role === "tool";
    for (const part of reader.end(id, isAfterTool)) yield this.#completed(part, request);
  }

  /** Adds what only the request and the price know to a part. */
  #completed(part: ModelPart, { tools }: ModelRequest): ModelPart {
    if (part.type === "tool-call" || part.type === "tool-input")
      return { ...part, tool: toolNamed(part.tool, tools) };
    const { price } = this.#options;
    if (part.type !== "usage" || price === undefined) return part;
    return { ...part, cost: costAt(price, part.usage) };
  }

  /** Reports whether the endpoint rejected an optional parameter, which is left out of further requests. */
  #dropsParameter(problem: Problem): boolean {
    if (problem.kind !== "status" || problem.status !== 400) return false;
    const { parameter } = parseErrorBody(problem.body);
    if (parameter === undefined || !OPTIONAL_PARAMETERS.has(parameter) || this.#rejected.has(parameter))
      return false;
    this.#rejected.add(parameter);
    return true;
  }

  #failure(problem: Problem, wire: HttpConnection): Failure {
    return describeProblem(problem, this.#options.endpoint, wire.excerpt, this.#options.clock.now());
  }

  #limitsOfRejection(failure: Failure, { headers }: HttpConnection): readonly ReportedLimit[] {
    const { endpoint, clock } = this.#options;
    return limitsOfRejection(failure, headers, endpoint.label, clock.now());
  }

  /** The delay before the next attempt; throws if there is none left. */
  #retryDelay(failure: Failure, next: number, cause: unknown): number {
    const { attempts, maxDelayMs } = this.#policy;
    const delay = retryDelay(next, failure.retryAfterMs, this.#policy);
    const end = (why: string) =>
      new ModelFailure({ ...failure.error, message: `${failure.error.message} ${why}` }, { cause });
    if (delay > maxDelayMs)
      throw end(
        `It asks to wait ${duration(delay)}, and Flint waits at most ${duration(maxDelayMs)}. Try again later.`,
      );
    if (next > attempts) throw end(`Gave up after ${attempts} attempts.`);
    return delay;
  }
}

/** Parameters that a response does not depend on, by the names that endpoints use. */
const OPTIONAL_PARAMETERS: ReadonlySet<string> = new Set([
  "reasoning.summary",
  "temperature",
  "stream_options",
]);

/** The connection knows best what went wrong. */
function problemOf(thrown: unknown, wire: HttpConnection): Problem {
  if (wire.problem !== undefined) return wire.problem;
  if (thrown instanceof ProblemError) return thrown.problem;
  if (!wire.isSent) return { kind: "request", thrown };
  return { kind: "stream", thrown };
}

function retried(error: TurnError, delay: number, attempt: number, attempts: number): TurnError {
  return {
    ...error,
    message: `${error.message} Retrying in ${duration(delay)} (attempt ${attempt} of ${attempts}).`,
  };
}

function duration(milliseconds: number): string {
  if (milliseconds < 60_000) return `${Math.round(milliseconds / 100) / 10} s`;
  return `${Math.ceil(milliseconds / 60_000)} min`;
}
