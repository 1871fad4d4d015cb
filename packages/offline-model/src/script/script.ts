import { readFile } from "node:fs/promises";
import { type FinishReason, ModelFailure } from "@flint/agent/model";
import type { TokenUsage } from "@flint/protocol";
import { Given, GivenError } from "../intents/given.ts";

/** Something that a script has the model do. */
export type ScriptPart =
  | { readonly type: "text" | "reasoning"; readonly text: string; readonly times: number }
  | {
      readonly type: "call";
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly id: string | undefined;
      /** Arguments that are no JSON object, word for word. */
      readonly raw: string | undefined;
    }
  | { readonly type: "usage"; readonly usage: TokenUsage }
  | { readonly type: "delay"; readonly milliseconds: number }
  | {
      readonly type: "error";
      readonly message: string;
      readonly status: number | undefined;
      /** Seconds until the request may be made again. */
      readonly retryAfter: number | undefined;
    }
  | { readonly type: "cut" }
  | { readonly type: "finish"; readonly reason: FinishReason };

/** What the model does in one call. */
export interface ScriptStep {
  /** It is only for a last user message that fits this. */
  readonly when: RegExp | undefined;
  readonly parts: readonly ScriptPart[];
}

/** A script file is not what it has to be. The message names the file, the step and the field. */
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
  Record<string, { readonly beside: readonly string[]; read(given: Given): ScriptPart }>
> = {
  text: { beside: ["times"], read: (given) => textPart(given, "text") },
  reasoning: { beside: ["times"], read: (given) => textPart(given, "reasoning") },
  repeat: {
    beside: ["times"],
    read: (given) => ({ type: "text", text: given.at("repeat").text(), times: given.at("times").number(0) }),
  },
  call: { beside: ["input", "raw", "id"], read: callPart },
  usage: { beside: [], read: usagePart },
  delay: { beside: [], read: (given) => ({ type: "delay", milliseconds: given.at("delay").number(0) }) },
  error: { beside: [], read: errorPart },
  cut: { beside: [], read: cutPart },
  finish: { beside: [], read: (given) => ({ type: "finish", reason: given.at("finish").oneOf(REASONS) }) },
};

/** Reads a script file: JSON with a list of steps, or one step a line. */
export async function readScript(path: string): Promise<readonly ScriptStep[]> {
  // Expected: a file that is not there or not readable; the user named it, so the error says which.
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ScriptError(`The script ${path} cannot be read: ${reason}`, { cause: error });
  });
  return parseScript(text, path);
}

/** Reads the text of a script; `name` is what errors call it. */
export function parseScript(text: string, name: string): readonly ScriptStep[] {
  const steps = stepsIn(text, name);
  return steps.map((value, index) => {
    // Expected: a part that is not what it has to be; the complaint is completed with where it is.
    try {
      return readStep(new Given(value, ""));
    } catch (error) {
      if (!(error instanceof GivenError)) throw error;
      throw new ScriptError(`${name}, step ${index + 1}: ${error.message}`, { cause: error });
    }
  });
}

function stepsIn(text: string, name: string): readonly unknown[] {
  const whole = parsed(text);
  if (whole !== undefined) {
    const given = new Given(whole.value, "");
    if (given.isList && !isPart(given.items()[0])) return given.items().map(({ value }) => value);
    if (given.isObject && !given.at("steps").isMissing) return listOfSteps(given.at("steps"), name);
    return [whole.value];
  }
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const step = parsed(line);
    if (step === undefined) throw new ScriptError(`${name}, line ${index + 1} is not JSON.`);
    return [step.value];
  });
}

/** A list of parts alone is one step, so that a script of one line means the same in both forms. */
function isPart(given: Given | undefined): boolean {
  return given?.isObject === true && Object.keys(given.fields()).some((field) => Object.hasOwn(PARTS, field));
}

function listOfSteps(given: Given, name: string): readonly unknown[] {
  if (!given.isList) throw new ScriptError(`${name}: steps has to be a list.`);
  return given.items().map(({ value }) => value);
}

function parsed(text: string): { readonly value: unknown } | undefined {
  // Expected: text that is no JSON, which is tried as lines then.
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function readStep(given: Given): ScriptStep {
  if (given.isList) return { when: undefined, parts: given.items().map(readPart) };
  onlyFields(given, ["when", "parts"]);
  return { when: readWhen(given.at("when")), parts: given.at("parts").items().map(readPart) };
}

function readWhen(given: Given): RegExp | undefined {
  const source = given.optionalText();
  if (source === undefined) return undefined;
  // Expected: a pattern that cannot be read.
  try {
    return new RegExp(source, "iu");
  } catch {
    return given.complain("a regular expression");
  }
}

function readPart(given: Given): ScriptPart {
  const fields = Object.keys(given.fields());
  const kind = Object.keys(PARTS).find((name) => fields.includes(name));
  const part = kind === undefined ? undefined : PARTS[kind];
  if (kind === undefined || part === undefined) {
    const known = Object.keys(PARTS).join(", ");
    throw new GivenError(`${given.place || "The part"} has none of the fields ${known}.`);
  }
  onlyFields(given, [kind, ...part.beside]);
  return part.read(given);
}

/** A field that nobody reads is most likely a spelling mistake. */
function onlyFields(given: Given, known: readonly string[]): void {
  const stranger = Object.keys(given.fields()).find((name) => !known.includes(name));
  if (stranger !== undefined) {
    const place = given.at(stranger).place;
    throw new GivenError(
      `${place} is not a field here; there ${known.length === 1 ? "is" : "are"} ${known.join(", ")}.`,
    );
  }
}

function textPart(given: Given, type: "text" | "reasoning"): ScriptPart {
  return { type, text: given.at(type).text(), times: given.at("times").optionalNumber(0) ?? 1 };
}

function callPart(given: Given): ScriptPart {
  const raw = given.at("raw").optionalText();
  const input = given.at("input");
  return {
    type: "call",
    tool: given.at("call").text(),
    input: input.isMissing ? {} : input.fields(),
    id: given.at("id").optionalText(),
    raw,
  };
}

function usagePart(given: Given): ScriptPart {
  const usage = given.at("usage");
  onlyFields(usage, USAGE);
  const counted = USAGE.flatMap((name) => {
    const tokens = usage.at(name).optionalNumber(0);
    return tokens === undefined ? [] : [[name, tokens] as const];
  });
  return { type: "usage", usage: { inputTokens: 0, outputTokens: 0, ...Object.fromEntries(counted) } };
}

function errorPart(given: Given): ScriptPart {
  const error = given.at("error");
  onlyFields(error, ["status", "message", "retry_after"]);
  return {
    type: "error",
    message: error.at("message").text(),
    status: error.at("status").optionalNumber(100),
    retryAfter: error.at("retry_after").optionalNumber(0),
  };
}

function cutPart(given: Given): ScriptPart {
  if (!given.at("cut").truth()) given.at("cut").complain("true");
  return { type: "cut" };
}
