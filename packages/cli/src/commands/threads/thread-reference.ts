import { agentOfModel, type Thread } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { homeFolder } from "@flint/server/environment";
import { cutLine, lineOf, textOf } from "@flint/tui/draw";
import { ageOf, escapeControls, shortFolder } from "@flint/view";
import { UsageError } from "../../command-line/command.ts";
import { columns } from "../../command-line/output.ts";

/** The number of threads that are searched for a reference. */
const SEARCHED = 10_000;

/** Finds a thread by its id, the beginning or end of it, its name, or `last` for the newest of a folder. */
export async function findThread(client: FlintClient, reference: string, cwd: string): Promise<Thread> {
  if (reference === "last") return newestThread(client, cwd);
  const all = await allThreads(client);
  const exact = all.find((thread) => thread.id === reference);
  if (exact !== undefined) return exact;
  const alike = all.filter(({ id, name }) => isPartOf(reference, id) || name === reference);
  const [found] = alike;
  if (found !== undefined && alike.length === 1) return found;
  if (found === undefined) {
    const child = childId(all, reference);
    if (child !== undefined) return (await client.call("thread/read", { threadId: child })).thread;
    throw new UsageError(`No thread ${JSON.stringify(reference)}. See flint threads list.`);
  }
  throw new UsageError(ambiguous(reference, alike));
}

/** The thread of a sub-agent by its id, or by a part of it that no other has; they are not listed by themselves. */
function childId(threads: readonly Thread[], reference: string): string | undefined {
  const ids = threads.flatMap(({ childThreads = [] }) => childThreads.map(({ id }) => id));
  const alike = ids.filter((id) => isPartOf(reference, id));
  return ids.find((id) => id === reference) ?? (alike.length === 1 ? alike[0] : undefined);
}

/** Ids begin with the time, so those of one minute begin alike; their ends differ. */
function isPartOf(reference: string, id: string): boolean {
  return id.startsWith(reference) || (reference.length >= MIN_END && id.endsWith(reference));
}

const MIN_END = 4;

/** Every thread, archived ones last, the newest first. */
export async function allThreads(client: FlintClient): Promise<readonly Thread[]> {
  const [active, archived] = await Promise.all([
    client.listThreads({ limit: SEARCHED, sortKey: "updatedAt" }),
    client.listThreads({ limit: SEARCHED, sortKey: "updatedAt", archived: true }),
  ]);
  return [...active.data, ...archived.data];
}

const SHOWN = 5;

function ambiguous(reference: string, alike: readonly Thread[]): string {
  const rows = alike
    .slice(0, SHOWN)
    .map((thread) => [`  ${thread.id}`, ageOf(thread.updatedAt * 1000, Date.now()), titleOf(thread)]);
  const more = alike.length > SHOWN ? `  and ${alike.length - SHOWN} more\n` : "";
  const head = `${JSON.stringify(reference)} matches ${alike.length} threads:`;
  return `${head}\n${columns(rows)}${more}Use a longer id.`;
}

/** The newest thread of a folder; one of a task only where there are no others, as in the worktree of the task. */
export async function newestThread(client: FlintClient, cwd: string): Promise<Thread> {
  for (const ofTasks of [false, true]) {
    const { data } = await client.listThreads({ limit: 1, cwd, ofTasks, sortKey: "updatedAt" });
    if (data[0] !== undefined) return data[0];
  }
  throw new UsageError(`No threads in ${cwd} yet. See flint threads list for all folders.`);
}

/** Options for printing a table of threads. */
interface TableOptions {
  /** The width of the terminal; undefined prints everything in full, for programs. */
  readonly columns?: number | undefined;
  /** All ids that a shortened one must be distinguishable from. */
  readonly ids: readonly string[];
}

/** On narrower terminals the folder is omitted, to leave room for the title. */
const MIN_WIDTH_WITH_FOLDER = 72;
const FOLDER_WIDTH = 24;
const MIN_ID = 8;

/** Formats threads as a table; on a terminal, with shortened ids and lines that fit. */
export function threadTable(threads: readonly Thread[], { columns: width, ids }: TableOptions): string {
  if (width === undefined) return columns([HEAD, ...threads.map((thread) => rowOf(thread, thread.id))]);
  const short = shortIds(
    threads.map(({ id }) => id),
    ids,
  );
  const rows = threads.map((thread, place) => rowOf(thread, short[place] ?? thread.id));
  const table = [HEAD, ...rows].map(([id = "", age = "", agent = "", folder = "", about = ""]) =>
    width < MIN_WIDTH_WITH_FOLDER
      ? [id, age, agent, about]
      : [id, age, agent, cut(folder, FOLDER_WIDTH), about],
  );
  return columns(table)
    .trimEnd()
    .split("\n")
    .map((line) => `${cut(line, width)}\n`)
    .join("");
}

const HEAD = ["ID", "UPDATED", "AGENT", "FOLDER", "TITLE"] as const;

function rowOf(thread: Thread, id: string): string[] {
  return [
    id,
    ageOf(thread.updatedAt * 1000, Date.now()),
    escapeControls(agentOfModel(thread.model)),
    shortFolder(thread.cwd, homeFolder()),
    titleOf(thread),
  ];
}

/** Unambiguous ends of ids, all of the same length, with at least eight characters. */
function shortIds(shown: readonly string[], all: readonly string[]): string[] {
  const sorted = [...new Set([...shown, ...all])].map(reversed).sort();
  const needed = new Map<string, number>();
  for (const [place, id] of sorted.entries()) {
    const neighbours = [sorted[place - 1], sorted[place + 1]];
    needed.set(id, Math.max(MIN_ID, ...neighbours.map((other) => sharedLength(id, other) + 1)));
  }
  const length = Math.max(MIN_ID, ...shown.map((id) => needed.get(reversed(id)) ?? id.length));
  return shown.map((id) => id.slice(-length));
}

function reversed(id: string): string {
  return [...id].reverse().join("");
}

function sharedLength(one: string, other = ""): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

/** The title of a thread in one short line. */
export function titleOf({ name, preview }: Thread): string {
  const [line = ""] = (name ?? preview).trim().split("\n");
  return cut(line, 60);
}

function cut(text: string, width: number): string {
  return textOf(cutLine(lineOf(text), width, "…"));
}
