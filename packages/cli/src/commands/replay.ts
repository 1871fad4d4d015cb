import { readFile } from "node:fs/promises";
import { isRecord } from "@flint/protocol";
import { TraceRecord } from "@flint/server/trace";
import { escapeControls } from "@flint/view";
import { oneArgument, UsageError } from "../command-line/arguments.ts";
import { complain, say } from "../command-line/output.ts";

interface ReplayArguments {
  readonly values: {
    readonly json?: boolean | undefined;
    readonly full?: boolean | undefined;
    readonly fixture?: boolean | undefined;
    readonly agent?: string | undefined;
  };
  readonly positionals: readonly string[];
}

/** A line of a trace, with what can be told about it. */
interface Shown extends TraceRecord {
  readonly elapsedMs: number;
  readonly name: string;
  readonly content: unknown;
}

const SHORT = 120;
const ARROWS = { in: "←", out: "→" } as const;
const NOT_NAMED = { decoded: "understood as", failed: "failed" } as const;

/** `flint replay`: what a trace file holds, readably, as JSON, or as lines that a test can play again. */
export async function replay({ values, positionals }: ReplayArguments): Promise<number> {
  if (values.json === true && values.fixture === true) {
    throw new UsageError("replay takes --json or --fixture, not both.");
  }
  const path = oneArgument("replay", positionals, "the file that --trace wrote");
  const { shown, problem, exitCode } = replayed(await textOf(path), path, values);
  if (problem !== undefined) complain(problem, exitCode);
  say(shown);
  return exitCode;
}

/** What there is to print about the text of a trace, and what is wrong with it. */
export function replayed(text: string, path: string, values: ReplayArguments["values"]) {
  const { records, faulty } = recordsIn(text);
  const wanted = records.filter(({ agent }) => values.agent === undefined || agent === values.agent);
  const isTrace = records.length > 0 || faulty.length === 0;
  return {
    shown: format(wanted, values),
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
  // Expected: a file that is not there or not readable.
  return readFile(path, "utf8").catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${path} cannot be read: ${why}.`);
  });
}

/** The records of a trace and the numbers of the lines that are none, such as one that was being written in a crash. */
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
  // Expected: a line that is no JSON.
  try {
    return TraceRecord.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

function problemOf(path: string, [first, ...more]: readonly number[], isTrace: boolean): string {
  if (!isTrace) return `${path} is no trace. Make one with: flint exec --trace FILE "…"`;
  const count = more.length === 0 ? "A line" : `${more.length + 1} lines`;
  return `${count} of ${path} cannot be read and left out, the first is line ${first}.`;
}

/** What the agents sent, exactly, one frame a line. */
function fixtureOf(records: readonly TraceRecord[]): string {
  const frames = records.filter(({ direction, stage }) => direction === "in" && stage === "raw");
  return frames.map(({ payload }) => `${payload}\n`).join("");
}

function named(records: readonly TraceRecord[]): Shown[] {
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
  { elapsedMs, direction, stage, agent = "agent", name, content }: Shown,
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

/** What a line between Flint and an agent is, in a few words, and what it carries. */
export interface NamedFrame {
  readonly name: string;
  /** Undefined where the name says it all. */
  readonly content: unknown;
}

/** Names the lines of one agent in order: an answer is named after the request that it answers. */
export class FrameNames {
  /** Open requests by direction and id. */
  readonly #requests = new Map<string, string>();

  /** Names a line as it was on the wire. */
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

/** The name of a frame that has no method: its type and, where there is one, the type of what is in it. */
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
  // Expected: what is no JSON, or was cut off.
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
