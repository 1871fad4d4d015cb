import type { Thread } from "@flint/protocol";
import { type FlintClient, SEARCHED_THREADS, searchThreads as threadsWith } from "@flint/sdk";
import { numberOption, UsageError } from "../../command-line/command.ts";
import { print, printJson } from "../../command-line/output.ts";
import { withStoredData } from "../local-server.ts";
import { allThreads, findThread, threadTable } from "./thread-reference.ts";

interface ListArguments {
  readonly values: {
    readonly here?: boolean | undefined;
    readonly archived?: boolean | undefined;
    readonly tasks?: boolean | undefined;
    readonly all?: boolean | undefined;
    readonly parent?: string | undefined;
    readonly limit?: string | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

/** `flint threads list`. */
export async function listThreads({ values, positionals }: ListArguments): Promise<number> {
  if (positionals.length > 0)
    throw new UsageError("threads list takes no arguments; use flint threads search TEXT.");
  const { data, nextCursor, ids } = await withStoredData(async (client) => {
    const page = await client.listThreads({
      limit: limitOf(values.limit),
      sortKey: "updatedAt",
      archived: values.archived === true,
      ...ofTasks(values),
      ...(values.here === true ? { cwd: process.cwd() } : {}),
      ...(await parentOf(client, values.parent)),
    });
    return { ...page, ids: await idsToShorten(client) };
  });
  if (values.json === true) return printJson(data);
  if (data.length === 0 && values.parent !== undefined) return print("This thread has no sub-agents.\n");
  if (data.length === 0 && values.tasks === true) return print("No threads of tasks.\n");
  if (data.length === 0)
    return print('No threads yet. Start one with flint exec "what is in this folder?"\n');
  const more = nextCursor === undefined ? "" : `… and more; see ${longerList(values, data.length * 5)}\n`;
  return print(`${threadTable(data, { columns: terminalWidth(), ids })}${more}`);
}

/** Threads of tasks have a list of their own; those of sub-agents are of one thread anyway. */
function ofTasks({ tasks, all, parent }: ListArguments["values"]): { ofTasks?: boolean } {
  if (tasks === true && all === true) throw new UsageError("Choose one of --tasks and --all.");
  return all === true || parent !== undefined ? {} : { ofTasks: tasks === true };
}

async function parentOf(client: FlintClient, reference: string | undefined) {
  if (reference === undefined) return {};
  return { parentThreadId: (await findThread(client, reference, process.cwd())).id };
}

/** The command that prints a longer list. */
function longerList({ here, archived, tasks, all }: ListArguments["values"], limit: number): string {
  const given = { "--here": here, "--archived": archived, "--tasks": tasks, "--all": all };
  const flags = Object.entries(given).flatMap(([flag, value]) => (value === true ? [flag] : []));
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
  if (values.json === true) return printJson(found);
  if (found.length === 0)
    return print(`${JSON.stringify(query)} was not found in the newest ${SEARCHED_THREADS} threads.\n`);
  return print(threadTable(found, { columns: terminalWidth(), ids }));
}

async function search(client: FlintClient, query: string, limit: number): Promise<readonly Thread[]> {
  const found: Thread[] = [];
  for await (const thread of threadsWith(client, query)) {
    if (found.push(thread) >= limit) break;
  }
  return found;
}

function limitOf(text = "20"): number {
  const isValid = (limit: number): boolean => Number.isInteger(limit) && limit >= 1 && limit <= 10_000;
  return numberOption("limit", text, "a whole number from 1 to 10000", isValid);
}
