import { inputText, isKnownItem, type Turn, type UserInput } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { contentOf } from "../../input/index.ts";
import { type RestorePreview, restorePage } from "../../pages/restore-page.ts";
import type { SessionContext } from "../context.ts";
import type { MenuItem } from "../menu.ts";
import { turnNumbered } from "../thread/all-turns.ts";
import { forkAt } from "./thread-commands.ts";

/** Returns the user's input of a turn; empty if the turn was started by something else. */
function inputOf(turn: Turn): readonly UserInput[] {
  const message = turn.items.find((item) => item.type === "userMessage");
  return message !== undefined && isKnownItem(message) && message.type === "userMessage"
    ? message.content
    : [];
}

/** The turns that began with a prompt, newest first, as rows of a menu. */
function turnItems(turns: readonly Turn[], choose: (turn: Turn) => void): MenuItem[] {
  return turns
    .map((turn, index) => ({ turn, number: index + 1 }))
    .filter(({ turn }) => inputOf(turn).length > 0)
    .reverse()
    .map(({ turn, number }) => ({
      label: `#${number} ${escapeControls(inputText(inputOf(turn)))
        .replaceAll("\n", " ")
        .slice(0, 200)}`,
      choose: () => choose(turn),
    }));
}

/** Goes back to before a prompt: in this thread, with or without its files, or in a copy. */
export function rewindThread(session: SessionContext, requested: string): void {
  session.run(async () => {
    const turns = await session.turns.read();
    const named = turnNumbered(turns, requested);
    if (requested !== "" && named !== undefined) return rewindTo(session, named);
    const items = turnItems(turns, (turn) => rewindTo(session, turn));
    session.openMenu({ title: "Rewind to before which prompt?", items }, 0);
  });
}

/** Lets the user choose how to go back to before a turn. */
export function rewindTo(session: SessionContext, turn: Turn): void {
  session.run(async () => {
    const threadId = session.state?.thread.id ?? "";
    const requested = { threadId, beforeTurnId: turn.id, files: "restore", preview: true } as const;
    // Expected: a server without checkpoints of files.
    const preview = await session.client.call("thread/revert", requested).catch(() => undefined);
    openHow(session, turn, preview, 0);
  });
}

function openHow(
  session: SessionContext,
  turn: Turn,
  preview: RestorePreview | undefined,
  selected: number,
): void {
  const show: MenuItem = {
    label: "Show what restoring would change",
    choose: () => {
      if (preview === undefined) return;
      // The choice is made after the page is closed.
      openHow(session, turn, preview, SHOW);
      session.openPage(restorePage(preview, session.settings?.cwd ?? "/"));
    },
  };
  const items = [
    { label: "Keep the files as they are", choose: () => rewind(session, turn, "keep") },
    ...(preview === undefined ? [] : [restoreItem(session, turn, preview), show]),
    {
      label: "Continue in a copy of the thread",
      detail: "this thread does not change",
      choose: () => forkBefore(session, turn),
    },
  ];
  session.openMenu({ title: "Remove the turns since then and edit the prompt", items }, selected);
}

/** Position in the menu of the choice that shows the changes. */
const SHOW = 2;

/** The choice that also restores files, with what it would do. */
function restoreItem(session: SessionContext, turn: Turn, preview: RestorePreview): MenuItem {
  const { files = [], conflicts = [], notSaved = [] } = preview;
  const names = files.slice(0, 3).map(({ path }) => escapeControls(path));
  const more = files.length > 3 ? ` and ${files.length - 3} more` : "";
  const skipped = conflicts.length + notSaved.length;
  const kept = skipped === 0 ? "" : `; ${skipped} cannot be restored`;
  const label = `Restore ${files.length === 1 ? "1 file" : `${files.length} files`}`;
  const detail = `${names.join(", ")}${more}${kept}`;
  return { label, detail, choose: () => rewind(session, turn, "restore") };
}

function rewind(session: SessionContext, turn: Turn, files: "keep" | "restore"): void {
  const threadId = session.state?.thread.id;
  if (threadId === undefined) return;
  session.run(async () => {
    const requested = { threadId, beforeTurnId: turn.id, files };
    const { turnIds, revertId } = await session.ownChanges.ask("thread/reverted", () =>
      session.client.call("thread/revert", requested),
    );
    session.noteRevert(revertId);
    session.composer.setContent(contentOf(inputOf(turn)));
    const what = files === "restore" ? "files restored" : "files kept";
    session.warn(
      `${turnIds.length} ${turnIds.length === 1 ? "turn" : "turns"} removed, ${what}. Undo with /undo.`,
    );
  });
}

function forkBefore(session: SessionContext, turn: Turn): void {
  session.run(async () => {
    const turns = await session.turns.read();
    const before = turns[turns.findIndex(({ id }) => id === turn.id) - 1];
    const threadId = session.state?.thread.id;
    if (before === undefined || threadId === undefined) await session.thread.startNew();
    else await forkAt(session, threadId, before.id);
    session.composer.setContent(contentOf(inputOf(turn)));
  });
}

/** Takes the last rewind back. */
export function undoRewind(session: SessionContext): void {
  const revertId = session.lastRevert;
  const threadId = session.state?.thread.id;
  if (revertId === undefined || threadId === undefined)
    session.say("Nothing to undo: no rewind in this session.");
  else {
    session.run(async () => {
      const { turnIds } = await session.ownChanges.ask("thread/revert/undone", () =>
        session.client.call("thread/revert/undo", { threadId, revertId }),
      );
      session.noteRevert(undefined);
      session.warn(`Rewind undone; turns restored: ${turnIds.length}.`);
    });
  }
}
