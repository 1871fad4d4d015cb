import { inputText, isKnownItem, type Thread, type ThreadItem } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { numberOption, UsageError } from "../../command-line/command.ts";
import { say, sayJson } from "../../command-line/output.ts";
import { withStoredData } from "../local-server.ts";
import { allThreads, threadTable } from "./thread-reference.ts";

interface ListArguments {
  readonly values: {
    readonly here?: boolean | undefined;
    readonly archived?: boolean | undefined;
    readonly limit?: string | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

/** How many of the newest threads are searched. */
const SEARCHED = 500;

/** `flint threads list`. */
export async function listThreads({ values, positionals }: ListArguments): Promise<number> {
  if (positionals.length > 0)
    throw new UsageError("threads list takes no arguments; use flint threads search TEXT.");
  const { data, nextCursor, ids } = await withStoredData(async (client) => {
    const page = await client.listThreads({
      limit: limitOf(values.limit),
      sortKey: "updatedAt",
      archived: values.archived === true,
      ...(values.here === true ? { cwd: process.cwd() } : {}),
    });
    return { ...page, ids: await idsToShorten(client) };
  });
  if (values.json === true) return sayJson(data);
  if (data.length === 0) return say('No threads yet. Start one with flint exec "what is in this folder?"\n');
  const more = nextCursor === undefined ? "" : `… and more; see ${longerList(values, data.length * 5)}\n`;
  return say(`${threadTable(data, { columns: terminalWidth(), ids })}${more}`);
}

/** The command that prints a longer list. */
function longerList({ here, archived }: ListArguments["values"], limit: number): string {
  const flags = [...(here === true ? ["--here"] : []), ...(archived === true ? ["--archived"] : [])];
  return ["flint threads list", ...flags, `--limit ${limit}`].join(" ");
}

function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || 80 : undefined;
}

/** All ids, where the table shortens them; output for programs has whole ids. */
async function idsToShorten(client: FlintClient): Promise<readonly string[]> {
  return terminalWidth() === undefined ? [] : (await allThreads(client)).map(({ id }) => id);
}

/** `flint threads search TEXT`: searches titles, then the messages of the newest threads. */
export async function searchThreads({ values, positionals }: ListArguments): Promise<number> {
  const query = positionals.join(" ").trim();
  if (query === "") throw new UsageError('threads search needs a text: flint threads search "login test"');
  const limit = limitOf(values.limit);
  const { found, ids } = await withStoredData(async (client) => {
    return { found: await search(client, query, limit), ids: await idsToShorten(client) };
  });
  if (values.json === true) return sayJson(found);
  if (found.length === 0)
    return say(`${JSON.stringify(query)} was not found in the newest ${SEARCHED} threads.\n`);
  return say(threadTable(found, { columns: terminalWidth(), ids }));
}

async function search(client: FlintClient, query: string, limit: number): Promise<readonly Thread[]> {
  const { data: titled } = await client.listThreads({ limit, searchTerm: query });
  const found = new Map(titled.map((thread) => [thread.id, thread]));
  const { data: newest } = await client.listThreads({ limit: SEARCHED, sortKey: "updatedAt" });
  for (const thread of newest) {
    if (found.size >= limit) break;
    if (!found.has(thread.id) && (await contains(client, thread.id, query.toLowerCase())))
      found.set(thread.id, thread);
  }
  return [...found.values()].slice(0, limit);
}

async function contains(client: FlintClient, threadId: string, query: string): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await client.call("thread/read", {
      threadId,
      includeTurns: true,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const items = (page.turns ?? []).flatMap((turn) => turn.items);
    if (items.some((item) => searchableText(item).toLowerCase().includes(query))) return true;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return false;
}

function searchableText(item: ThreadItem): string {
  if (!isKnownItem(item)) return "";
  if (item.type === "userMessage") return inputText(item.content);
  if (item.type === "agentMessage") return item.text;
  return item.type === "commandExecution" ? item.command : "";
}

function limitOf(text = "20"): number {
  const isValid = (limit: number): boolean => Number.isInteger(limit) && limit >= 1 && limit <= 10_000;
  return numberOption("limit", text, "a whole number from 1 to 10000", isValid);
}
