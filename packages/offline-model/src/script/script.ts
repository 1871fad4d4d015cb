import { readFile } from "node:fs/promises";
import { type FinishReason, ModelFailure } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import { JsonError, JsonReader } from "../json-reader.ts";

/** One thing that a script has the model do. */
export type ScriptPart =
  | { readonly type: "text" | "reasoning"; readonly text: string; readonly times: number }
  | {
      readonly type: "call";
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly id: string | undefined;
      /** Arguments that are not a JSON object, sent as they are. */
      readonly raw: string | undefined;
    }
  | { readonly type: "usage"; readonly usage: TokenUsage }
  | { readonly type: "delay"; readonly milliseconds: number }
  | {
      readonly type: "error";
      readonly message: string;
      readonly status: number | undefined;
      /** Seconds until the request may be retried. */
      readonly retryAfter: number | undefined;
    }
  | { readonly type: "cut" }
  | { readonly type: "finish"; readonly reason: FinishReason };

/** What the model does in one call. */
export interface ScriptStep {
  /** The step is only for a last user message that matches this. */
  readonly when: RegExp | undefined;
  readonly parts: readonly ScriptPart[];
}

/** A script file is not valid. The message names the file, the step and the field. */
export class ScriptError extends ModelFailure {
  constructor(message: string, options?: ErrorOptions) {
    super({ message, errorInfo: "AgentFailed" }, options);
  }
}

const REASONS = ["stop", "tools", "length", "filtered"] as const;
const USAGE = [
  "inputTokens",
  "outputTokens",
  "thinkingTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
] as const;

/** The fields that say what a part is, each with those that may stand beside it. */
const PARTS: Readonly<
  Record<string, { readonly beside: readonly string[]; read(part: JsonReader): ScriptPart }>
> = {
  text: { beside: ["times"], read: (part) => textPart(part, "text") },
  reasoning: { beside: ["times"], read: (part) => textPart(part, "reasoning") },
  repeat: {
    beside: ["times"],
    read: (part) => ({
      type: "text",
      text: part.field("repeat").string(),
      times: part.field("times").number(0),
    }),
  },
  call: { beside: ["input", "raw", "id"], read: callPart },
  usage: { beside: [], read: usagePart },
  delay: { beside: [], read: (part) => ({ type: "delay", milliseconds: part.field("delay").number(0) }) },
  error: { beside: [], read: errorPart },
  cut: {
    beside: [],
    read: (part) => (part.field("cut").value === true ? { type: "cut" } : part.field("cut").fail("true")),
  },
  finish: { beside: [], read: (part) => ({ type: "finish", reason: part.field("finish").oneOf(REASONS) }) },
};

/** Reads a script file: JSON with a list of steps, or one step per line. */
export async function readScript(path: string): Promise<readonly ScriptStep[]> {
  // Expected: a file that does not exist or cannot be read.
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ScriptError(`The script ${path} cannot be read: ${reason}`, { cause: error });
  });
  return parseScript(text, path);
}

/** Parses a script; `name` is what errors call it. */
export function parseScript(text: string, name: string): readonly ScriptStep[] {
  return stepsIn(text, name).map((value, index) => {
    // Expected: a part that is not valid; the error is completed with the place of the step.
    try {
      return readStep(new JsonReader(value));
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      throw new ScriptError(`${name}, step ${index + 1}: ${error.message}`, { cause: error });
    }
  });
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
  if (Array.isArray(value)) return isPart(value[0]) ? [value] : value;
  if (typeof value !== "object" || value === null || !("steps" in value)) return [value];
  if (!Array.isArray(value.steps)) throw new ScriptError(`${name}: steps must be an array.`);
  return value.steps;
}

function isPart(value: unknown): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.keys(PARTS).some((name) => Object.hasOwn(value, name))
  );
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  // Expected: text that is not JSON as a whole, but line by line.
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function readStep(step: JsonReader): ScriptStep {
  if (step.isArray) return { when: undefined, parts: step.array().map(readPart) };
  onlyFields(step, ["when", "parts"]);
  return { when: readWhen(step.field("when")), parts: step.field("parts").array().map(readPart) };
}

function readWhen(when: JsonReader): RegExp | undefined {
  const source = when.optionalString();
  if (source === undefined) return undefined;
  // Expected: a pattern that is not valid.
  try {
    return new RegExp(source, "iu");
  } catch {
    return when.fail("a regular expression");
  }
}

function readPart(part: JsonReader): ScriptPart {
  const fields = part.object();
  const [kind, row] = Object.entries(PARTS).find(([name]) => name in fields) ?? [];
  if (kind === undefined || row === undefined)
    throw new JsonError(`${part.path} has none of the fields ${Object.keys(PARTS).join(", ")}.`);
  onlyFields(part, [kind, ...row.beside]);
  return row.read(part);
}

/** Rejects a field that is never read: it is most likely a typo. */
function onlyFields(reader: JsonReader, known: readonly string[]): void {
  const unknown = Object.keys(reader.object()).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new JsonError(`${reader.field(unknown).path} is not a known field; expected ${known.join(", ")}.`);
}

function textPart(part: JsonReader, type: "text" | "reasoning"): ScriptPart {
  return { type, text: part.field(type).string(), times: part.field("times").optionalNumber(0) ?? 1 };
}

function callPart(part: JsonReader): ScriptPart {
  const input = part.field("input");
  return {
    type: "call",
    tool: part.field("call").string(),
    input: input.isMissing ? {} : input.object(),
    id: part.field("id").optionalString(),
    raw: part.field("raw").optionalString(),
  };
}

function usagePart(part: JsonReader): ScriptPart {
  const usage = part.field("usage");
  onlyFields(usage, USAGE);
  const counts = USAGE.flatMap((name) => {
    const tokens = usage.field(name).optionalNumber(0);
    return tokens === undefined ? [] : [[name, tokens] as const];
  });
  return { type: "usage", usage: { inputTokens: 0, outputTokens: 0, ...Object.fromEntries(counts) } };
}

function errorPart(part: JsonReader): ScriptPart {
  const error = part.field("error");
  onlyFields(error, ["status", "message", "retry_after"]);
  return {
    type: "error",
    message: error.field("message").string(),
    status: error.field("status").optionalNumber(100),
    retryAfter: error.field("retry_after").optionalNumber(0),
  };
}
