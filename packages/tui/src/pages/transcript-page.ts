import { isKnownItem, type ThreadItem, type Turn } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { type Line, lineOf, screenRows, wrapLine } from "../draw/line.ts";
import type { Look } from "../draw/look.ts";
import type { SessionContext } from "../session/context.ts";
import { itemBlocks } from "../session/entry-lines.ts";
import { turnEndBlock } from "../session/turn-end.ts";
import { Pager } from "./pager.ts";

/** The whole thread, nothing folded. Turns that are not here yet are read from the server. */
export function transcriptPage(session: SessionContext): Pager {
  const lines = new TranscriptLines();
  const earlier: Turn[] = [];
  session.run(async () => {
    await readEarlier(session, earlier);
    session.changed();
  });
  return new Pager({
    title: session.state?.thread.name ?? session.state?.thread.preview ?? "Thread",
    fromEnd: true,
    lines: (look) => {
      const { turns = [], settings } = session.state ?? {};
      const known = new Set(turns.map(({ id }) => id));
      const all = [...earlier.filter(({ id }) => !known.has(id)), ...turns];
      return lines.of(all, settings?.cwd ?? "/", look);
    },
  });
}

/** Reads all pages of turns, oldest first in `into`. */
async function readEarlier(session: SessionContext, into: Turn[]): Promise<void> {
  const threadId = session.state?.thread.id;
  if (threadId === undefined) return;
  let cursor: string | undefined;
  do {
    const page = { threadId, includeTurns: true, limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    const { turns = [], nextCursor } = await session.client.call("thread/read", page);
    into.unshift(...turns);
    cursor = nextCursor;
  } while (cursor !== undefined);
}

/** The lines of turns at one width, remembered for items that do not change. */
class TranscriptLines {
  #known = new WeakMap<ThreadItem, readonly Line[]>();
  #columns = 0;

  of(turns: readonly Turn[], cwd: string, look: Look): Line[] {
    if (look.columns !== this.#columns) this.#known = new WeakMap();
    this.#columns = look.columns;
    return turns.flatMap((turn) => [
      ...turn.items.flatMap((item) => this.#item(item, cwd, look)),
      ...endOf(turn, look),
    ]);
  }

  #item(item: ThreadItem, cwd: string, look: Look): readonly Line[] {
    const known = this.#known.get(item);
    if (known !== undefined) return known;
    const blocks = itemBlocks(item, { look, cwd, seen: false });
    const drawn = [
      ...blocks.flatMap((block) => [...screenRows(block, look)]),
      ...wholeOutput(item, look),
      [],
    ];
    this.#known.set(item, drawn);
    return drawn;
  }
}

/** Output that the session shows only the end of. */
function wholeOutput(item: ThreadItem, look: Look): Line[] {
  if (!isKnownItem(item) || item.type !== "commandExecution") return [];
  const all = (item.aggregatedOutput ?? "").trimEnd().split("\n");
  if (all.length <= 10) return [];
  return [
    lineOf(`  all ${all.length} lines:`, "dim"),
    ...all.flatMap((line) => wrapLine(lineOf(`  ${escapeControls(line)}`, "dim"), look.columns - 1, 2)),
  ];
}

function endOf(turn: Turn, look: Look): Line[] {
  const end = turnEndBlock(turn, look);
  return end === undefined ? [] : [...screenRows(end, look), []];
}
