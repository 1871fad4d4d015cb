import { readFile } from "node:fs/promises";
import { ModelFailure, type ModelPart, type ModelRequest } from "@flint/agent/model";
import { type Clock, pause } from "@flint/core/ports";
import { errorMessage, lazy } from "@flint/protocol";
import * as z from "zod/mini";
import { streamText } from "./intents/respond.ts";

const count = z.number().check(z.minimum(0));
const optionalCount = z.optional(count);
const optionalString = z.optional(z.string());

/** The parts that a script can have the model produce, by the field that names the part. */
const PARTS = lazy(() => ({
  text: z.strictObject({ text: z.string(), times: optionalCount }),
  reasoning: z.strictObject({ reasoning: z.string(), times: optionalCount }),
  repeat: z.strictObject({ repeat: z.string(), times: count }),
  /** `raw` are arguments that are not a JSON object, sent as they are. */
  call: z.strictObject({
    call: z.string(),
    input: z.optional(z.record(z.string(), z.unknown())),
    raw: optionalString,
    id: optionalString,
  }),
  usage: z.strictObject({
    usage: z.strictObject({
      inputTokens: z._default(count, 0),
      outputTokens: z._default(count, 0),
      thinkingTokens: optionalCount,
      cacheReadTokens: optionalCount,
      cacheWriteTokens: optionalCount,
    }),
  }),
  /** Milliseconds. */
  delay: z.strictObject({ delay: count }),
  /** `retry_after` are the seconds until the request may be retried. */
  error: z.strictObject({
    error: z.strictObject({ message: z.string(), status: optionalCount, retry_after: optionalCount }),
  }),
  cut: z.strictObject({ cut: z.literal(true) }),
  finish: z.strictObject({ finish: z.enum(["stop", "tools", "length", "filtered"]) }),
}));
type Parts = ReturnType<typeof PARTS>;

/** One thing that a script has the model do. */
type ScriptPart = { [Kind in keyof Parts]: z.infer<Parts[Kind]> }[keyof Parts];

/** A scripted model call. */
interface ScriptStep {
  /** The step is only for a last user message that matches this. */
  readonly when: RegExp | undefined;
  readonly parts: readonly ScriptPart[];
}

/** A script file is not valid. The message names the file, the step and the field. */
class ScriptError extends ModelFailure {
  constructor(message: string, options?: ErrorOptions) {
    super({ message, errorInfo: "AgentFailed" }, options);
  }
}

/** Reads a script file: JSON with a list of steps, or one step per line. */
async function readScript(path: string): Promise<readonly ScriptStep[]> {
  // Expected: a file that does not exist or cannot be read.
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const reason = errorMessage(error);
    throw new ScriptError(`The script ${path} cannot be read: ${reason}`, { cause: error });
  });
  return parseScript(text, path);
}

/** Parses a script; `name` is what errors call it. */
export function parseScript(text: string, name: string): readonly ScriptStep[] {
  return stepsIn(text, name).map((value, index) => parseStep(value, `${name}, step ${index + 1}`));
}

function stepsIn(text: string, name: string): readonly unknown[] {
  const whole = parseJson(text);
  if (whole === undefined) {
    return text.split("\n").flatMap((line, index) => {
      if (line.trim() === "") return [];
      const step = parseJson(line);
      if (step === undefined) throw new ScriptError(`${name}, line ${index + 1} is not JSON.`);
      return [step.value];
    });
  }
  const { value } = whole;
  // A list of parts is one step, so that a script of one line means the same in both forms.
  if (Array.isArray(value)) return kindOf(value[0]) === undefined ? value : [value];
  if (typeof value !== "object" || value === null || !("steps" in value)) return [value];
  if (!Array.isArray(value.steps)) throw new ScriptError(`${name}: steps must be an array.`);
  return value.steps;
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  // Expected: text that is not JSON as a whole, but line by line.
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const Step = lazy(() => z.strictObject({ when: optionalString, parts: z.array(z.unknown()) }));

function parseStep(value: unknown, name: string): ScriptStep {
  const step = Array.isArray(value) ? { parts: value } : parse(Step(), value, name, []);
  const parts = step.parts.map((part, index) => parsePart(part, name, index));
  return { when: "when" in step ? parsePattern(step.when, name) : undefined, parts };
}

function parsePattern(source: string | undefined, name: string): RegExp | undefined {
  if (source === undefined) return undefined;
  // Expected: a pattern that is not valid.
  try {
    return new RegExp(source, "iu");
  } catch (cause) {
    throw new ScriptError(`${name}: when is not a regular expression: ${source}`, { cause });
  }
}

function parsePart(value: unknown, name: string, index: number): ScriptPart {
  const kind = kindOf(value);
  if (kind !== undefined) return parse<ScriptPart>(PARTS()[kind], value, name, [`[${index}]`]);
  throw new ScriptError(`${name}: [${index}] has none of the fields ${Object.keys(PARTS()).join(", ")}.`);
}

function kindOf(value: unknown): keyof Parts | undefined {
  const fields = typeof value === "object" && value !== null ? value : {};
  // The keys of an object literal are the names of its type.
  return (Object.keys(PARTS()) as (keyof Parts)[]).find((name) => Object.hasOwn(fields, name));
}

function parse<Value>(
  schema: z.ZodMiniType<Value>,
  value: unknown,
  name: string,
  prefix: readonly string[],
): Value {
  const { success, data, error } = z.safeParse(schema, value);
  if (success) return data;
  const [issue] = error.issues;
  const path = [...prefix, ...(issue?.path ?? [])].map(String).join(".");
  throw new ScriptError([name, ...(path === "" ? [] : [path]), `${issue?.message}.`].join(": "), {
    cause: error,
  });
}

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

/** Options for playing a script. */
interface PlayerOptions {
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
