import type { NativeSession } from "@flint/protocol";
import { ageOf, escapeControls, shortFolder } from "@flint/view";
import type { SessionContext } from "../../context.ts";

/** More sessions than this are not offered at once; `flint threads import` lists more. */
const MOST = 100;

/** Lets the user continue with a session that an agent had without Flint: in this folder, or in all. */
export function importSession(session: SessionContext, which: string): void {
  session.run(async () => {
    const cwd = session.settings?.cwd ?? session.machine.cwd;
    const where = which === "all" ? {} : { cwd };
    const { data } = await session.client.call("thread/import/list", { ...where, limit: MOST });
    if (data.length === 0)
      return session.say(
        which === "all"
          ? "No agent has a session on this machine that can be imported."
          : "No session of this folder. /import all lists those of all folders.",
      );
    session.openMenu({
      title: "Import which session?",
      items: data.map((found) => ({
        label: escapeControls(found.preview).replaceAll("\n", " ") || found.id,
        detail: detailOf(session, found),
        choose: () => session.run(() => importOne(session, found)),
      })),
    });
  });
}

function detailOf(
  { machine, now }: SessionContext,
  { agent, cwd, updatedAt, threadId }: NativeSession,
): string {
  const known = threadId === undefined ? [] : ["imported before"];
  const facts = [agent, ageOf(updatedAt * 1000, now()), shortFolder(cwd, machine.home), ...known];
  return escapeControls(facts.join("  "));
}

async function importOne(session: SessionContext, { agent, id }: NativeSession): Promise<void> {
  const { thread, status, turns, notes } = await session.client.call("thread/import", {
    agent,
    sessionId: id,
  });
  await session.thread.open(thread.id);
  for (const note of notes) session.warn(note);
  const added = turns === 1 ? "1 turn" : `${turns} turns`;
  session.say(status === "unchanged" ? "Nothing is new in that session." : `Imported ${added}.`);
}
