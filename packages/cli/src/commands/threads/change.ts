import type { FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { noArguments, oneArgument, UsageError } from "../../command-line/command.ts";
import { print, printJson } from "../../command-line/output.ts";
import { askLine, isInteractive } from "../../command-line/terminal.ts";
import { withStoredData } from "../local-server.ts";
import { findThread } from "./thread-reference.ts";
import { findTurn } from "./turn-reference.ts";

interface Positionals {
  readonly positionals: readonly string[];
}

interface ForkArguments extends Positionals {
  readonly values: { readonly "last-turn"?: string | undefined; readonly json?: boolean | undefined };
}

interface DeleteArguments extends Positionals {
  readonly values: { readonly yes?: boolean | undefined };
}

/** `flint threads fork ID`. */
export async function forkThread({ values, positionals }: ForkArguments): Promise<number> {
  const reference = oneArgument("threads fork", positionals, "a thread: an id, or last");
  const last = values["last-turn"];
  const { thread } = await withStoredData(async (client) => {
    const { id: threadId } = await findThread(client, reference, process.cwd());
    const upTo = last === undefined ? {} : { lastTurnId: await findTurn(client, threadId, last) };
    return client.call("thread/fork", { threadId, ...upTo });
  });
  if (values.json === true) return printJson(thread);
  return print(`${thread.id}\n`);
}

/** `flint threads name ID NAME`. */
export async function nameThread({ positionals }: Positionals): Promise<number> {
  const [reference, ...words] = positionals;
  const name = words.join(" ").trim();
  if (reference === undefined || name === "") {
    throw new UsageError('threads name needs a thread and a name: flint threads name last "login bug"');
  }
  const id = await onThread(reference, (client, threadId) =>
    client.call("thread/name/set", { threadId, name }),
  );
  return print(`Named ${id}: ${escapeControls(name)}\n`);
}

/** `flint threads archive ID`. */
export async function archiveThread({ positionals }: Positionals): Promise<number> {
  const reference = oneArgument("threads archive", positionals, "a thread: an id, or last");
  const id = await onThread(reference, (client, threadId) => client.call("thread/archive", { threadId }));
  return print(`Archived ${id}\n`);
}

/** `flint threads unarchive ID`. */
export async function unarchiveThread({ positionals }: Positionals): Promise<number> {
  const reference = oneArgument("threads unarchive", positionals, "a thread: an id or its name");
  const id = await onThread(reference, (client, threadId) => client.call("thread/unarchive", { threadId }));
  return print(`Unarchived ${id}\n`);
}

/** `flint threads delete ID`. Asks for confirmation; outside a terminal it requires --yes. */
export async function deleteThread({ values, positionals }: DeleteArguments): Promise<number> {
  const [reference, ...more] = positionals;
  if (reference === undefined) throw new UsageError("threads delete needs a thread: an id, or last.");
  noArguments("threads delete", more);
  return withStoredData(async (client) => {
    const thread = await findThread(client, reference, process.cwd());
    if (values.yes !== true && !(await confirmed(thread.id, thread.name ?? thread.preview))) return 1;
    await client.call("thread/delete", { threadId: thread.id });
    return print(`Deleted ${thread.id}\n`);
  });
}

async function confirmed(id: string, about: string): Promise<boolean> {
  if (!isInteractive()) throw new UsageError("Not running in a terminal: confirm with --yes.");
  const [line = ""] = about.split("\n");
  const answer = await askLine(`Delete ${id} (${escapeControls(line)}) permanently? [y/N] `);
  return answer?.toLowerCase() === "y";
}

async function onThread(
  reference: string,
  change: (client: FlintClient, threadId: string) => Promise<unknown>,
): Promise<string> {
  return withStoredData(async (client) => {
    const { id } = await findThread(client, reference, process.cwd());
    await change(client, id);
    return id;
  });
}
