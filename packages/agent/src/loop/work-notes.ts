import { cutMiddle } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import type { Message, ToolCall } from "../models/model.ts";

/**
 * Notes that outlast every summary, whatever the model writes: the task, the open plan and the files worked
 * on.
 */
export interface WorkNotes {
  /** The requests of the user, in the user's own words. */
  readonly requests: readonly string[];
  /** The steps of the plan that are not done. */
  readonly plan: readonly string[];
  /** The files that were changed. */
  readonly files: readonly string[];
}

const SECTIONS = {
  requests: "What the user asked for:",
  plan: "Steps of the plan that are open:",
  files: "Files that were changed:",
} as const satisfies Record<keyof WorkNotes, string>;

/** The first request states the task; of the others the latest matter. */
const MAX_REQUESTS = 6;
const MAX_REQUEST_LENGTH = 4_000;
const MAX_PLAN = 30;
const MAX_FILES = 100;

/** The notes of a conversation, those in an earlier summary included. */
export function workNotes(messages: readonly Message[]): WorkNotes {
  let notes: WorkNotes = { requests: [], plan: [], files: [] };
  for (const message of messages) {
    if (message.role === "system") notes = merged(notes, notesIn(message.text));
    if (message.role === "user") notes = merged(notes, { requests: [message.text] });
    if (message.role === "assistant")
      for (const call of message.calls) notes = merged(notes, notesOfCall(call));
  }
  return bounded(notes);
}

/** A summary with the notes behind it. */
export function withNotes(summary: string, notes: WorkNotes): string {
  const sections = SECTION_NAMES.flatMap((name) =>
    notes[name].length === 0 ? [] : [[SECTIONS[name], ...notes[name].map(asEntry)].join("\n")],
  );
  return [withoutNotes(summary).trimEnd(), ...sections].join("\n\n");
}

// Object.keys forgets which keys the table has.
const SECTION_NAMES = Object.keys(SECTIONS) as readonly (keyof WorkNotes)[];

/** The notes behind a summary. */
export function notesIn(text: string): Partial<WorkNotes> {
  const notes: Partial<Record<keyof WorkNotes, string[]>> = {};
  let section: keyof WorkNotes | undefined;
  for (const line of text.split("\n")) {
    const begins = SECTION_NAMES.find((name) => SECTIONS[name] === line);
    if (begins !== undefined) notes[begins] = [];
    if (begins !== undefined || line === "") section = begins;
    else if (section !== undefined && line.startsWith("- ")) notes[section]?.push(fromEntry(line));
  }
  return notes;
}

/** A model that saw the notes of an earlier summary may have repeated them. */
function withoutNotes(summary: string): string {
  const starts = SECTION_NAMES.map((name) => summary.indexOf(`\n${SECTIONS[name]}\n`)).filter(
    (at) => at >= 0,
  );
  return starts.length === 0 ? summary : summary.slice(0, Math.min(...starts));
}

/** Lines in an entry are quoted, so that it stays one line. */
function asEntry(text: string): string {
  return `- ${JSON.stringify(text).slice(1, -1)}`;
}

function fromEntry(line: string): string {
  const quoted = `"${line.slice("- ".length)}"`;
  // Expected: a model that wrote such a section itself.
  try {
    const text: unknown = JSON.parse(quoted);
    return typeof text === "string" ? text : line.slice(2);
  } catch {
    return line.slice(2);
  }
}

const FILE_TOOLS: ReadonlySet<string> = new Set(["write_file", "edit_file"]);

function notesOfCall({ tool, input }: ToolCall): Partial<WorkNotes> {
  if (tool === "update_plan") return { plan: openSteps(input.plan) };
  if (FILE_TOOLS.has(tool) && typeof input.path === "string") return { files: [input.path] };
  if (tool === "apply_patch" && typeof input.patch === "string") return { files: patchedFiles(input.patch) };
  return {};
}

function openSteps(plan: unknown): string[] {
  return (Array.isArray(plan) ? plan : []).flatMap((entry) => {
    if (!isRecord(entry) || entry.status === "completed") return [];
    const text = entry.step ?? entry.content ?? entry.text;
    return typeof text === "string" ? [text] : [];
  });
}

function patchedFiles(patch: string): string[] {
  const marks = /^(?:\+\+\+ (?:b\/)?|--- (?:a\/)?|\*\*\* (?:Add|Update|Delete) File: )(.+)$/gm;
  const paths = [...patch.matchAll(marks)].flatMap(([, path]) => path ?? []);
  return paths.map((path) => path.replace(/\t.*$/, "").trim()).filter((path) => path !== "/dev/null");
}

/** A plan replaces the one before; the rest adds up. */
function merged(notes: WorkNotes, more: Partial<WorkNotes>): WorkNotes {
  return {
    requests: [...notes.requests, ...(more.requests ?? [])],
    plan: more.plan ?? notes.plan,
    files: [...new Set([...notes.files, ...(more.files ?? [])])],
  };
}

function bounded({ requests, plan, files }: WorkNotes): WorkNotes {
  const given = requests.filter((text) => text.trim() !== "");
  const kept =
    given.length <= MAX_REQUESTS ? given : [...given.slice(0, 1), ...given.slice(1 - MAX_REQUESTS)];
  return {
    requests: kept.map((text) => cutMiddle(text, MAX_REQUEST_LENGTH, "characters").text),
    plan: plan.slice(0, MAX_PLAN),
    files: files.slice(-MAX_FILES),
  };
}
