import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { errorMessage, isRecord } from "@flint/protocol";
import { TraceRecord } from "@flint/server/trace";
import { escapeControls } from "@flint/view";
import { oneArgument, UsageError } from "../command-line/command.ts";
import { print, printError, printRaw } from "../command-line/output.ts";

interface ReplayArguments {
  readonly values: {
    readonly turn?: string | undefined;
    readonly speed?: string | undefined;
    readonly json?: boolean | undefined;
    readonly full?: boolean | undefined;
    readonly fixture?: boolean | undefined;
    readonly agent?: string | undefined;
  };
  readonly positionals: readonly string[];
}

/** A record of a trace with its time, name and content. */
interface NamedRecord extends TraceRecord {
  readonly elapsedMs: number;
  readonly name: string;
  readonly content: unknown;
}

const SHORT = 120;
const ARROWS = { in: "←", out: "→" } as const;
const NOT_NAMED = { decoded: "decoded", failed: "failed" } as const;

/** `flint replay`: plays a thread, or prints a trace: as text, as JSON, or as a test fixture. */
export async function replay({ values, positionals }: ReplayArguments): Promise<number> {
  if (values.json === true && values.fixture === true) {
    throw new UsageError("--json and --fixture cannot be used together.");
  }
  const path = oneArgument("replay", positionals, "a thread, or the file that --trace wrote");
  if (!path.includes("/") && !existsSync(path)) {
    const { replayThread } = await import("./threads/replay.ts");
    return replayThread({ values, positionals });
  }
  const { shown, problem, exitCode } = replayed(await textOf(path), path, values);
  if (problem !== undefined) printError(problem, exitCode);
  if (values.json === true || values.fixture === true) printRaw(shown);
  else print(shown);
  return exitCode;
}

/** The output for the text of a trace, and what is wrong with it. */
export function replayed(text: string, path: string, values: ReplayArguments["values"]) {
  const { records, faulty } = recordsIn(text);
  const requested = records.filter(({ agent }) => values.agent === undefined || agent === values.agent);
  const isTrace = records.length > 0 || faulty.length === 0;
  return {
    shown: format(requested, values),
    problem: faulty.length === 0 ? undefined : problemOf(path, faulty, isTrace),
    exitCode: isTrace ? 0 : 1,
  };
}

function format(records: readonly TraceRecord[], values: ReplayArguments["values"]): string {
  if (values.fixture === true) return fixtureOf(records);
  const shown = named(records);
  if (values.json === true) return `${JSON.stringify(shown, undefined, 2)}\n`;
  const isFull = values.full === true;
  const lines = shown.filter(({ stage }) => isFull || stage !== "decoded");
  return lines.map((line) => lineOf(line, isFull)).join("");
}

async function textOf(path: string): Promise<string> {
  // Expected: a file that is missing or unreadable.
  return readFile(path, "utf8").catch((error: unknown) => {
    const why = errorMessage(error);
    throw new UsageError(`Cannot read ${path}: ${why}.`);
  });
}

/** The records of a trace, and the numbers of invalid lines, such as one that was cut off by a crash. */
function recordsIn(text: string): { readonly records: TraceRecord[]; readonly faulty: number[] } {
  const records: TraceRecord[] = [];
  const faulty: number[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const record = recordIn(line);
    if (record === undefined) faulty.push(index + 1);
    else records.push(record);
  }
  return { records, faulty };
}

function recordIn(line: string): TraceRecord | undefined {
  // Expected: a line that is not JSON.
  try {
    return TraceRecord.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function problemOf(path: string, [first, ...more]: readonly number[], isTrace: boolean): string {
  if (!isTrace) return `${path} is not a trace. Record one with flint exec --trace FILE "…"`;
  const count = more.length === 0 ? "a line" : `${more.length + 1} lines`;
  return `Skipped ${count} of ${path} that cannot be read; the first is line ${first}.`;
}

/** Exactly what the agents sent, one frame per line. */
function fixtureOf(records: readonly TraceRecord[]): string {
  const frames = records.filter(({ direction, stage }) => direction === "in" && stage === "raw");
  return frames.map(({ payload }) => `${payload}\n`).join("");
}

function named(records: readonly TraceRecord[]): NamedRecord[] {
  const names = new Map<string | undefined, FrameNames>();
  const start = records[0]?.at ?? 0;
  return records.map((record) => {
    const elapsedMs = record.at - start;
    const { agent, stage, direction, payload } = record;
    if (stage !== "raw") return { ...record, elapsedMs, name: NOT_NAMED[stage], content: payload };
    const own = names.get(agent) ?? new FrameNames();
    names.set(agent, own);
    return { ...record, elapsedMs, ...own.name(direction, payload) };
  });
}

function lineOf(
  { elapsedMs, direction, stage, agent = "agent", name, content }: NamedRecord,
  isFull: boolean,
): string {
  const time = `+${(elapsedMs / 1000).toFixed(3)}s`.padStart(10);
  const arrow = stage === "failed" ? "!" : ARROWS[direction];
  const text = content === undefined ? "" : typeof content === "string" ? content : JSON.stringify(content);
  const shown = escapeControls(`${agent}  ${name}  ${isFull ? text : shortened(text)}`);
  return `${time} ${arrow} ${shown.replaceAll("\n", "\\n").trimEnd()}\n`;
}

function shortened(text: string): string {
  return text.length <= SHORT ? text : `${text.slice(0, SHORT)}… (${text.length} characters)`;
}

type Fields = Readonly<Record<string, unknown>>;

/** A message between Flint and an agent: a short name, and its content. */
export interface NamedFrame {
  readonly name: string;
  /** Undefined if the name says it all. */
  readonly content: unknown;
}

/** Names the messages of one agent in order: a response is named after its request. */
export class FrameNames {
  /** Open requests by direction and id. */
  readonly #requests = new Map<string, string>();

  /** Names a message as it was on the wire. */
  name(direction: "in" | "out", payload: string): NamedFrame {
    const fields = fieldsOf(payload);
    if (fields === undefined) return { name: "text", content: payload };
    if (typeof fields.method === "string") return this.#message(direction, fields, fields.method);
    if ("id" in fields && ("result" in fields || "error" in fields)) return this.#answer(direction, fields);
    return { name: typeName(fields), content: fields };
  }

  #message(direction: "in" | "out", { id, params }: Fields, method: string): NamedFrame {
    if (id === undefined) return { name: method, content: params };
    this.#requests.set(keyOf(direction, id), method);
    return { name: `${method} #${String(id)}`, content: params };
  }

  #answer(direction: "in" | "out", { id, result, error }: Fields): NamedFrame {
    const key = keyOf(direction === "in" ? "out" : "in", id);
    const method = this.#requests.get(key) ?? "?";
    this.#requests.delete(key);
    if (error !== undefined) return { name: `${method} #${String(id)} failed`, content: error };
    return { name: `${method} #${String(id)} answered`, content: result };
  }
}

/** The name of a frame without a method: its type, and the type of its content if it has one. */
function typeName(fields: Fields): string {
  const { type, subtype, request, response, event, message } = fields;
  if (typeof type !== "string") return "object";
  const inner = subtype ?? at(request, "subtype") ?? at(response, "subtype") ?? at(event, "type");
  if (typeof inner === "string") return `${type} ${inner}`;
  const blocks: unknown = at(message, "content");
  if (!Array.isArray(blocks)) return type;
  return [type, [...new Set(blocks.map((block) => String(at(block, "type"))))].join("+")].join(" ");
}

function fieldsOf(payload: string): Fields | undefined {
  // Expected: text that is not JSON, or was cut off.
  try {
    const value: unknown = JSON.parse(payload);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function at(value: unknown, key: string): unknown {
  return isRecord(value) ? value[key] : undefined;
}

function keyOf(direction: "in" | "out", id: unknown): string {
  return `${direction} ${JSON.stringify(id)}`;
}
