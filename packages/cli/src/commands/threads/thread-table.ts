import type { Thread } from "@flint/protocol";
import { homeFolder } from "@flint/server/environment";
import { columns } from "../../command-line/output.ts";
import { lineOf, textOf } from "../../screen/line.ts";
import { cutLine } from "../../screen/wrap.ts";

/** How a table of threads is shown. */
export interface TableOptions {
  /** The width of the terminal; undefined where a program reads, which gets everything whole. */
  readonly columns?: number | undefined;
  /** Every id that a short one must be told from. */
  readonly ids: readonly string[];
}

/** Narrower than this the folder is left out, so that there is room for what the thread is about. */
const ROOM_FOR_FOLDER = 72;
const FOLDER_WIDTH = 24;
const LEAST_ID = 8;

/** Threads as a table: on a terminal with ids as short as can be, and no line longer than it is wide. */
export function threadTable(threads: readonly Thread[], { columns: width, ids }: TableOptions): string {
  if (width === undefined) return columns([HEAD, ...threads.map((thread) => rowOf(thread, thread.id))]);
  const short = shortIds(
    threads.map(({ id }) => id),
    ids,
  );
  const rows = threads.map((thread, place) => rowOf(thread, short[place] ?? thread.id));
  const table = [HEAD, ...rows].map(([id = "", age = "", folder = "", about = ""]) =>
    width < ROOM_FOR_FOLDER ? [id, age, about] : [id, age, cut(folder, FOLDER_WIDTH), about],
  );
  return columns(table)
    .trimEnd()
    .split("\n")
    .map((line) => `${cut(line, width)}\n`)
    .join("");
}

const HEAD = ["ID", "CHANGED", "FOLDER", "ABOUT"] as const;

function rowOf(thread: Thread, id: string): string[] {
  return [id, ageOf(thread), inShort(thread.cwd), aboutOf(thread)];
}

/** The beginnings of ids that no other id has, at least eight characters each, all of one length. */
function shortIds(shown: readonly string[], all: readonly string[]): string[] {
  const sorted = [...new Set([...shown, ...all])].sort();
  const needed = new Map<string, number>();
  for (const [place, id] of sorted.entries()) {
    const neighbours = [sorted[place - 1], sorted[place + 1]];
    needed.set(id, Math.max(LEAST_ID, ...neighbours.map((other) => sharedLength(id, other) + 1)));
  }
  const length = Math.max(LEAST_ID, ...shown.map((id) => needed.get(id) ?? id.length));
  return shown.map((id) => id.slice(0, length));
}

function sharedLength(one: string, other = ""): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** What a thread is about, in one short line. */
export function aboutOf({ name, preview }: Thread): string {
  const [line = ""] = (name ?? preview).trim().split("\n");
  return cut(line, 60);
}

const AGES = [
  { seconds: 86_400, unit: "d" },
  { seconds: 3_600, unit: "h" },
  { seconds: 60, unit: "min" },
] as const;

/** How long ago a thread was changed. */
export function ageOf({ updatedAt }: Thread): string {
  const age = Math.max(0, Date.now() / 1000 - updatedAt);
  const found = AGES.find(({ seconds }) => age >= seconds);
  return found === undefined ? "just now" : `${Math.floor(age / found.seconds)} ${found.unit} ago`;
}

function inShort(folder: string): string {
  const home = homeFolder();
  if (home === undefined || (folder !== home && !folder.startsWith(`${home}/`))) return folder;
  return `~${folder.slice(home.length)}`;
}

function cut(text: string, width: number): string {
  return textOf(cutLine(lineOf(text), width, "…"));
}
