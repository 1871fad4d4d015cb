import { isKnownItem, type Turn } from "@flint/protocol";
import { type Row, type RowAction, rowText } from "@flint/view";
import type { CommandId } from "@flint/view/commands";
import { listBackground, stopBackground } from "../session/commands/background-commands.ts";
import { rewindTo } from "../session/commands/rewind.ts";
import { forkAt } from "../session/commands/thread-commands.ts";
import type { SessionContext } from "../session/context.ts";
import { diffPage } from "./diff-page.ts";

/** The keys of a selected row, and what they do with it. Folding is the transcript's own. */
export const ROW_COMMANDS: Partial<
  Readonly<Record<CommandId, { readonly action: RowAction; readonly words: string }>>
> = {
  rowCopy: { action: "copyRow", words: "copy" },
  rowDiff: { action: "showDiff", words: "diff" },
  rowOpenImage: { action: "openImage", words: "open" },
  rowStop: { action: "stopCommand", words: "stop" },
  rowRewind: { action: "rewindToRow", words: "go back to before it" },
  rowFork: { action: "forkAtRow", words: "continue in a copy" },
};

/** A row of a thread, and how to say what became of an action. */
interface ActionTarget {
  readonly row: Row;
  readonly turn: Turn;
  say(text: string): void;
}

/** Does something with a row of the transcript. Gives `close` if that continues outside of it. */
export function runRowAction(
  session: SessionContext,
  action: RowAction,
  { row, turn, say }: ActionTarget,
): true | "close" {
  const threadId = session.state?.thread.id;
  switch (action) {
    case "copyRow":
      say(session.terminal.copy(rowText(row)) ? "Copied." : "Plain lines cannot be copied by a program.");
      return true;
    case "showDiff":
      session.openPage(diffPage(session, turn.id));
      return true;
    case "openImage": {
      const image = row.body.find((block) => block.kind === "image");
      if (image !== undefined)
        session.run(async () => say(`Opened ${await session.machine.openImage(image.source)}`));
      return true;
    }
    case "stopCommand":
      session.run(() => stopCommand(session, row, turn));
      return "close";
    case "rewindToRow":
      if (session.state?.activeTurnId !== undefined) {
        say("Not now: a turn is running.");
        return true;
      }
      rewindTo(session, turn);
      return "close";
    case "forkAtRow":
      if (threadId !== undefined) session.run(() => forkAt(session, threadId, turn.id));
      return "close";
    case "toggleFold":
      return true;
  }
}

/** A command in the background is known by its words alone; if several have them, the user chooses. */
async function stopCommand(session: SessionContext, row: Row, turn: Turn): Promise<void> {
  const item = turn.items.find(({ id }) => id === row.itemId);
  const threadId = session.state?.thread.id;
  if (item === undefined || threadId === undefined || !isKnownItem(item)) return;
  const { data } = await session.client.call("thread/backgroundCommands/list", { threadId });
  const found = data.filter(({ command }) => item.type === "commandExecution" && command === item.command);
  const [only] = found;
  if (only !== undefined && found.length === 1) stopBackground(session, only.processId);
  else listBackground(session);
}
