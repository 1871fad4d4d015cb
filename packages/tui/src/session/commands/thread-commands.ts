import type { Thread } from "@flint/protocol";
import { transcript } from "@flint/view";
import type { SessionContext } from "../context.ts";
import { readThread, turnNumbered } from "../thread/all-turns.ts";

/** Continues in a copy of the thread, up to a turn or with all of them. */
export function forkThread(session: SessionContext, requested: string): void {
  const threadId = session.state?.thread.id;
  if (threadId === undefined) return;
  session.run(async () => {
    const turn = requested === "" ? undefined : turnNumbered(await session.turns.read(), requested);
    await forkAt(session, threadId, turn?.id);
  });
}

/** Opens a copy of the thread. */
export async function forkAt(
  session: SessionContext,
  threadId: string,
  lastTurnId: string | undefined,
): Promise<void> {
  const upTo = lastTurnId === undefined ? {} : { lastTurnId };
  const { thread } = await session.client.call("thread/fork", { threadId, ...upTo });
  await session.thread.open(thread.id);
  session.warn("This is a copy; the original thread is unchanged.");
}

/** Opens another thread, by the words after `/resume`. */
export function resumeThread(session: SessionContext, requested: string): void {
  session.run(async () => {
    const found = await threadsCalled(session, requested);
    const [thread] = found;
    if (thread === undefined || found.length !== 1)
      session.say(`No thread ${requested}; /threads lists all.`);
    else await session.thread.open(thread.id);
  });
}

/** The threads with a name, an id or the end of one. */
async function threadsCalled({ client }: SessionContext, requested: string): Promise<readonly Thread[]> {
  const found: Thread[] = [];
  let cursor: string | undefined;
  do {
    const at = cursor === undefined ? {} : { cursor };
    const page = await client.listThreads({ limit: 200, sortKey: "updatedAt", ...at });
    found.push(
      ...page.data.filter(({ id, name }) => id === requested || name === requested || id.endsWith(requested)),
    );
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}

/** Opens a thread, or says why there is none to open. */
export function switchThread(session: SessionContext, threadId: string | undefined, otherwise: string): void {
  if (threadId === undefined) session.say(otherwise);
  else session.run(() => session.thread.open(threadId));
}

/** Names the thread. */
export function renameThread(session: SessionContext, name: string): void {
  const threadId = session.state?.thread.id;
  if (threadId !== undefined) session.run(() => nameThread(session, threadId, name));
}

/** Names a thread. */
export async function nameThread(session: SessionContext, threadId: string, name: string): Promise<void> {
  const call = () => session.client.call("thread/name/set", { threadId, name });
  await session.ownChanges.ask("thread/name/updated", call);
}

/** Writes the thread to a file. */
export function exportCommand(session: SessionContext, file: string): void {
  const threadId = session.state?.thread.id;
  if (threadId === undefined) return;
  session.run(async () => session.say(`Exported to ${await exportThread(session, threadId, file)}.`));
}

/** Writes a thread as Markdown to a new file, and gives its name. */
export async function exportThread(session: SessionContext, threadId: string, file: string): Promise<string> {
  const { thread, turns } = await readThread(session.client, threadId);
  const name = file === "" ? `flint-${threadId.slice(-8)}.md` : file;
  await session.machine.writeFile(name, transcript(thread, turns));
  return name;
}

/** Reviews uncommitted changes, changes since a branch, a commit, or what the user says. */
export function startReview(session: SessionContext, what: string): void {
  session.run(async () => {
    const threadId = await session.thread.ensure();
    await session.client.call("review/start", { threadId, target: targetOf(what) });
  });
}

function targetOf(what: string) {
  const [first = "", second] = what.split(/\s+/);
  if (what === "") return { type: "uncommittedChanges" as const };
  if (first === "branch" && second !== undefined) return { type: "baseBranch" as const, branch: second };
  if (/^[0-9a-f]{7,40}$/.test(what)) return { type: "commit" as const, sha: what };
  return { type: "custom" as const, instructions: what };
}

/** Summarises the context to free space. */
export function compactContext(session: SessionContext): void {
  session.run(async () => {
    const threadId = await session.thread.ensure();
    await session.client.call("thread/compact/start", { threadId });
  });
}
