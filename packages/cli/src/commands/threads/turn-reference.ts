import type { Thread, Turn } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { count } from "@flint/view";
import { UsageError } from "../../command-line/command.ts";

/** A thread with all its turns. */
export interface WholeThread {
  readonly thread: Thread;
  readonly turns: readonly Turn[];
}

/** Reads a thread with all its turns, oldest first. */
export async function wholeThread(client: FlintClient, threadId: string): Promise<WholeThread> {
  const pages: (readonly Turn[])[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await client.call("thread/read", {
      threadId,
      includeTurns: true,
      ...(cursor === undefined ? {} : { cursor }),
    });
    pages.unshift(page.turns ?? []);
    if (page.nextCursor === undefined) return { thread: page.thread, turns: pages.flat() };
    cursor = page.nextCursor;
  }
}

/** The id of a turn, given by its number (`3` or `#3`, as `flint threads show` prints it) or by its id. */
export async function findTurn(client: FlintClient, threadId: string, reference: string): Promise<string> {
  const [, digits] = /^#?(\d{1,9})$/.exec(reference) ?? [];
  if (digits === undefined) return reference;
  const { turns } = await wholeThread(client, threadId);
  const found = turns[Number(digits) - 1];
  if (found !== undefined) return found.id;
  throw new UsageError(
    `The thread has no turn #${Number(digits)}: it has ${count(turns.length, "turn")}. See flint threads show ${threadId}.`,
  );
}
