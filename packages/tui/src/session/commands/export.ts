import type { Turn } from "@flint/protocol";
import { transcript } from "@flint/view";
import type { SessionContext } from "../context.ts";

/** Writes a thread as Markdown to a new file, and gives its name. */
export async function exportThread(session: SessionContext, threadId: string, file: string): Promise<string> {
  const turns: Turn[] = [];
  let cursor: string | undefined;
  let thread: Awaited<ReturnType<typeof read>>["thread"] | undefined;
  do {
    const page = await read(session, threadId, cursor);
    turns.unshift(...(page.turns ?? []));
    thread ??= page.thread;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const name = file === "" ? `flint-${threadId.slice(-8)}.md` : file;
  await session.machine.writeFile(name, thread === undefined ? "" : transcript(thread, turns));
  return name;
}

function read(session: SessionContext, threadId: string, cursor: string | undefined) {
  return session.client.call("thread/read", {
    threadId,
    includeTurns: true,
    limit: 100,
    ...(cursor === undefined ? {} : { cursor }),
  });
}
