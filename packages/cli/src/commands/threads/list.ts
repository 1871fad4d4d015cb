import { inputText, isKnownItem, type Thread, type ThreadItem } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { UsageError } from "../../command-line/arguments.ts";
import { say, sayJson } from "../../command-line/output.ts";
import { withStoredThings } from "../local-server.ts";
import { allThreads } from "./thread-reference.ts";
import { threadTable } from "./thread-table.ts";

interface ListArguments {
  readonly values: {
    readonly here?: boolean | undefined;
    readonly archived?: boolean | undefined;
    readonly limit?: string | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

/** How many of the newest threads are read through for words. */
const READ_THROUGH = 500;

/** `flint threads list`. */
export async function listThreads({ values, positionals }: ListArguments): Promise<number> {
  if (positionals.length > 0) throw new UsageError("threads list takes no words; threads search does.");
  const { data, nextCursor, ids } = await withStoredThings(async (client) => {
    const page = await client.listThreads({
      limit: limitOf(values.limit),
      sortKey: "updatedAt",
      archived: values.archived === true,
      ...(values.here === true ? { cwd: process.cwd() } : {}),
    });
    return { ...page, ids: await idsToTellFrom(client) };
  });
  if (values.json === true) return sayJson(data);
  if (data.length === 0) return say('There is no thread yet. Try: flint exec "what is in this folder?"\n');
  const more = nextCursor === undefined ? "" : `… and more: ${longerList(values, data.length * 5)}\n`;
  return say(`${threadTable(data, { columns: terminalWidth(), ids })}${more}`);
}

/** The same list again, only longer. */
function longerList({ here, archived }: ListArguments["values"], limit: number): string {
  const flags = [...(here === true ? ["--here"] : []), ...(archived === true ? ["--archived"] : [])];
  return ["flint threads list", ...flags, `--limit ${limit}`].join(" ");
}

function terminalWidth(): number | undefined {
  return process.stdout.isTTY ? process.stdout.columns || 80 : undefined;
}

/** Only where ids are shortened, which nobody does for a program. */
async function idsToTellFrom(client: FlintClient): Promise<readonly string[]> {
  return terminalWidth() === undefined ? [] : (await allThreads(client)).map(({ id }) => id);
}

/** `flint threads search WORDS`: in titles first, then in what was said in the newest threads. */
export async function searchThreads({ values, positionals }: ListArguments): Promise<number> {
  const words = positionals.join(" ").trim();
  if (words === "") throw new UsageError('threads search needs words: flint threads search "login test"');
  const limit = limitOf(values.limit);
  const { found, ids } = await withStoredThings(async (client) => {
    return { found: await search(client, words, limit), ids: await idsToTellFrom(client) };
  });
  if (values.json === true) return sayJson(found);
  if (found.length === 0)
    return say(`Nobody said ${JSON.stringify(words)} in the newest ${READ_THROUGH} threads.\n`);
  return say(threadTable(found, { columns: terminalWidth(), ids }));
}

async function search(client: FlintClient, words: string, limit: number): Promise<readonly Thread[]> {
  const { data: titled } = await client.listThreads({ limit, searchTerm: words });
  const found = new Map(titled.map((thread) => [thread.id, thread]));
  const { data: newest } = await client.listThreads({ limit: READ_THROUGH, sortKey: "updatedAt" });
  for (const thread of newest) {
    if (found.size >= limit) break;
    if (!found.has(thread.id) && (await says(client, thread.id, words.toLowerCase())))
      found.set(thread.id, thread);
  }
  return [...found.values()].slice(0, limit);
}

async function says(client: FlintClient, threadId: string, words: string): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const page = await client.call("thread/read", {
      threadId,
      includeTurns: true,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const items = (page.turns ?? []).flatMap((turn) => turn.items);
    if (items.some((item) => spoken(item).toLowerCase().includes(words))) return true;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return false;
}

function spoken(item: ThreadItem): string {
  if (!isKnownItem(item)) return "";
  if (item.type === "userMessage") return inputText(item.content);
  if (item.type === "agentMessage") return item.text;
  return item.type === "commandExecution" ? item.command : "";
}

function limitOf(text = "20"): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw new UsageError(`--limit takes a whole number from 1 to 10000; not ${JSON.stringify(text)}.`);
}
