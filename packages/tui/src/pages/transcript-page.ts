import { escapeControls, type Row, spanText } from "@flint/view";
import type { CommandId } from "@flint/view/commands";
import type { SessionContext } from "../session/context.ts";
import { hintsIn } from "./key-name.ts";
import { Pager } from "./pager.ts";
import { ROW_COMMANDS, runRowAction } from "./row-actions.ts";
import { TranscriptLines } from "./transcript-lines.ts";

/**
 * The whole thread, nothing folded until the user folds it: all of it, or a row that they select, with which they can do more.
 * Turns that are not here yet are read from the server.
 */
export function transcriptPage(session: SessionContext): Pager {
  const lines = new TranscriptLines();
  let message = "";
  const say = (text: string) => {
    message = text;
    session.changed();
  };
  session.run(async () => {
    await session.turns.read();
    session.changed();
  });
  return new Pager({
    title: session.state?.thread.name ?? session.state?.thread.preview ?? "Thread",
    hint: (look) => {
      const { row } = lines.selected ?? {};
      const parts = `${hintsIn(look, [["previousPart", ""]])}${hintsIn(look, [["nextPart", "select"]])}`;
      if (row === undefined) return [...hintsIn(look, [["toggleFold", "folds all"]]), parts].join(" · ");
      if (message !== "") return escapeControls(message);
      const title = look.isPlain === true ? [escapeControls(spanText(row.title)) || row.family] : [];
      return [...title, ...hintsIn(look, commandsFor(row))].join(" · ");
    },
    fromEnd: true,
    lines: (look) => {
      const { settings, openItemIds = [] } = session.state ?? {};
      return lines.of(session.turns.known, { openItemIds, cwd: settings?.cwd ?? "/", look });
    },
    command: (id, pager) => {
      message = "";
      if (id === "toggleFold") lines.fold();
      else if (id === "previousPart" || id === "nextPart") {
        const line = lines.select(id === "nextPart" ? 1 : -1, pager.shown);
        if (line !== undefined) pager.reveal(line);
      } else {
        const { row, turn } = lines.selected ?? {};
        const action = commandsFor(row).some(([command]) => command === id) ? ROW_COMMANDS[id] : undefined;
        if (row === undefined || turn === undefined || action === undefined) return false;
        return runRowAction(session, action.action, { row, turn, say });
      }
      return true;
    },
  });
}

/** The keys for what can be done with a row. */
function commandsFor(row: Row | undefined): (readonly [CommandId, string])[] {
  const commands = Object.entries(ROW_COMMANDS).flatMap(([id, command]) =>
    command !== undefined && row?.actions.includes(command.action) === true
      ? // The keys of the table are commands.
        [[id as CommandId, command.words] as const]
      : [],
  );
  return row?.actions.includes("toggleFold") === true
    ? [["toggleFold", row.fold === "open" ? "fold" : "unfold"], ...commands]
    : commands;
}
