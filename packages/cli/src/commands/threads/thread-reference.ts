import type { Thread } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { UsageError } from "../../command-line/arguments.ts";
import { columns } from "../../command-line/output.ts";
import { ageOf, titleOf } from "./thread-table.ts";

/** How many threads are searched for a reference. */
const SEARCHED = 10_000;

/** Finds a thread by its id, a prefix of it, its name, or `last` for the newest of a folder. */
export async function findThread(client: FlintClient, reference: string, cwd: string): Promise<Thread> {
  if (reference === "last") return newestThread(client, cwd);
  const all = await allThreads(client);
  const exact = all.find((thread) => thread.id === reference);
  if (exact !== undefined) return exact;
  const alike = all.filter((thread) => thread.id.startsWith(reference) || thread.name === reference);
  const [found] = alike;
  if (found !== undefined && alike.length === 1) return found;
  if (found === undefined) {
    throw new UsageError(`No thread ${JSON.stringify(reference)}. See flint threads list.`);
  }
  throw new UsageError(ambiguous(reference, alike));
}

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
  const rows = alike.slice(0, SHOWN).map((thread) => [`  ${thread.id}`, ageOf(thread), titleOf(thread)]);
  const more = alike.length > SHOWN ? `  and ${alike.length - SHOWN} more\n` : "";
  const head = `${JSON.stringify(reference)} matches ${alike.length} threads:`;
  return `${head}\n${columns(rows)}${more}Use a longer id.`;
}

/** The newest thread of a folder. */
export async function newestThread(client: FlintClient, cwd: string): Promise<Thread> {
  const { data } = await client.listThreads({ limit: 1, cwd, sortKey: "updatedAt" });
  if (data[0] !== undefined) return data[0];
  throw new UsageError(`No threads in ${cwd} yet. See flint threads list for all folders.`);
}
