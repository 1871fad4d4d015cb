import type { Turn } from "@flint/protocol";
import { type Fold, type Folds, type Row, rowsOf } from "@flint/view";
import { drawThread } from "../draw/draw-thread.ts";
import type { Line } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import type { SessionContext } from "../session/context.ts";
import { withoutOwnName } from "../session/sent-inputs.ts";
import { hintsIn } from "./key-name.ts";
import { Pager } from "./pager.ts";

/** The whole thread, nothing folded until the user folds it. Turns that are not here yet are read from the server. */
export function transcriptPage(session: SessionContext): Pager {
  const lines = new TranscriptLines();
  session.run(async () => {
    await session.turns.read();
    session.changed();
  });
  return new Pager({
    title: session.state?.thread.name ?? session.state?.thread.preview ?? "Thread",
    hint: (look) => hintsIn(look, [["toggleFold", "folds all, or unfolds"]]).join(""),
    fromEnd: true,
    lines: (look) => {
      const { settings, openItemIds = [] } = session.state ?? {};
      return lines.of(session.turns.known, openItemIds, settings?.cwd ?? "/", look);
    },
    command: (id) => {
      if (id !== "toggleFold") return false;
      lines.fold();
      return true;
    },
  });
}

/** The lines of turns at one width, remembered for turns whose rows do not change. */
class TranscriptLines {
  readonly #known = new Map<string, { readonly rows: readonly Row[]; readonly lines: readonly Line[] }>();
  #columns = 0;
  #all: Fold = "open";
  #folds: Folds = allAre("open");

  /** Folds everything that can be, or unfolds it again. */
  fold(): void {
    this.#all = this.#all === "open" ? "closed" : "open";
    this.#folds = allAre(this.#all);
  }

  of(
    turns: readonly Turn[],
    openItemIds: readonly string[],
    cwd: string,
    look: RenderOptions,
  ): readonly Line[] {
    if (look.columns !== this.#columns) this.#known.clear();
    this.#columns = look.columns;
    return turns.flatMap((turn, at) => {
      const lines = this.#turn(turn, openItemIds, cwd, look);
      return at === 0 || lines.length === 0 ? lines : [[], ...lines];
    });
  }

  #turn(turn: Turn, openItemIds: readonly string[], cwd: string, look: RenderOptions): readonly Line[] {
    const rows = rowsOf({ turns: [turn], openItemIds: [...openItemIds] }, this.#folds);
    const known = this.#known.get(turn.id);
    if (known?.rows === rows || isSame(known?.rows, rows)) return known?.lines ?? [];
    const shown = rows.map((row) => withoutOwnName(turn, row));
    const lines = drawThread(shown, { look: { ...look, columns: look.columns - 1 }, cwd });
    this.#known.set(turn.id, { rows, lines });
    return lines;
  }
}

function isSame(one: readonly Row[] | undefined, other: readonly Row[]): boolean {
  return one?.length === other.length && other.every((row, at) => row === one[at]);
}

/** The same fold for every row, whatever its key. */
function allAre(fold: Fold): Folds {
  return { get: () => fold };
}
