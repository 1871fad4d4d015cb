import { inputText, isKnownItem, type ParamsInput, type Thread, type ThreadItem } from "@flint/protocol";
import type { FlintClient } from "../client/flint-client.ts";

/** Maximum number of the newest threads that are searched. */
export const SEARCHED_THREADS = 500;

/** The threads to search, and the signal that stops the search. */
export interface SearchOptions extends Pick<ParamsInput<"thread/list">, "archived" | "cwd" | "ofTasks"> {
  /** Ends the search. What it found until then was found. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Threads with a text in their name, prompts, answers or commands: first those whose name or first prompt has it, then the
 * newest ones, as they are read.
 */
export async function* searchThreads(
  client: FlintClient,
  text: string,
  { signal, ...which }: SearchOptions = {},
): AsyncGenerator<Thread, void, undefined> {
  const titled = await client.listThreads({ ...which, limit: SEARCHED_THREADS, searchTerm: text });
  yield* titled.data;
  const known = new Set(titled.data.map(({ id }) => id));
  const newest = await client.listThreads({ ...which, limit: SEARCHED_THREADS, sortKey: "updatedAt" });
  for (const thread of newest.data) {
    if (signal?.aborted === true) return;
    if (!known.has(thread.id) && (await contains(client, thread.id, text.toLowerCase()))) yield thread;
  }
}

async function contains(client: FlintClient, threadId: string, text: string): Promise<boolean> {
  let cursor: string | undefined;
  do {
    const params = { threadId, includeTurns: true, ...(cursor === undefined ? {} : { cursor }) };
    // Expected: a thread that was deleted since it was listed, or whose log cannot be read. Nothing is found in it.
    const page = await client.call("thread/read", params).catch(() => undefined);
    const items = (page?.turns ?? []).flatMap((turn) => turn.items);
    if (items.some((item) => searchableText(item).toLowerCase().includes(text))) return true;
    cursor = page?.nextCursor;
  } while (cursor !== undefined);
  return false;
}

function searchableText(item: ThreadItem): string {
  if (!isKnownItem(item)) return "";
  if (item.type === "userMessage") return inputText(item.content);
  if (item.type === "agentMessage") return item.text;
  return item.type === "commandExecution" ? item.command : "";
}
