import type { Turn } from "@flint/protocol";
import { type Fold, type Folds, type Row, rowsOf } from "@flint/view";
import { drawThread } from "../draw/draw-thread.ts";
import { type Line, span } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { withoutOwnName } from "../session/sent-inputs.ts";

/** A row of the transcript, its turn, and the line at which it begins. */
export interface PlacedRow {
  readonly row: Row;
  readonly turn: Turn;
  readonly line: number;
}

/** Options for drawing turns. */
interface TranscriptLook {
  readonly openItemIds: readonly string[];
  readonly cwd: string;
  readonly look: RenderOptions;
}

/** The lines of one turn, and where its rows begin in them. */
interface TurnLines {
  readonly rows: readonly Row[];
  readonly lines: readonly Line[];
  readonly starts: readonly { readonly row: Row; readonly line: number }[];
}

/** Width of the margin in front of rows while one is selected. */
const MARGIN = 2;

/** The lines of turns at one width, remembered for turns whose rows do not change, and the row that is selected. */
export class TranscriptLines {
  readonly #known = new Map<string, TurnLines>();
  #columns = 0;
  #all: Fold = "open";
  /** The rows that are not folded like all. */
  #own = new Map<string, Fold>();
  #folds: Folds = { get: () => "open" };
  #placed: readonly PlacedRow[] = [];
  #selected: string | undefined;

  /** The row that is selected; undefined if none is, or it is gone. */
  get selected(): PlacedRow | undefined {
    return this.#placed.find(({ row }) => row.key === this.#selected);
  }

  /** Selects the next row or the one before; at first the one nearest to what is shown. Gives the line where it begins. */
  select(by: 1 | -1, { from, to }: { readonly from: number; readonly to: number }): number | undefined {
    const at = this.#placed.findIndex(({ row }) => row.key === this.#selected);
    const shown = this.#placed.filter(({ line }) => line >= from && line < to);
    const next =
      at === -1
        ? (shown.at(by === 1 ? 0 : -1) ?? this.#placed.at(by === 1 ? 0 : -1))
        : this.#placed[Math.max(0, Math.min(at + by, this.#placed.length - 1))];
    this.#selected = next?.row.key;
    return next?.line;
  }

  /** Folds the selected row or unfolds it; without one, everything that can be. */
  fold(): void {
    const { row } = this.selected ?? {};
    if (row === undefined) {
      this.#all = this.#all === "open" ? "closed" : "open";
      this.#own = new Map();
    } else if (row.fold !== undefined) this.#own.set(row.key, row.fold === "open" ? "closed" : "open");
    const [own, all] = [this.#own, this.#all];
    this.#folds = { get: (key) => own.get(key) ?? all };
  }

  of(turns: readonly Turn[], drawn: TranscriptLook): readonly Line[] {
    const { look } = drawn;
    const margin = this.#selected === undefined || look.isPlain === true ? 0 : MARGIN;
    const columns = look.columns - 1 - margin;
    if (columns !== this.#columns) this.#known.clear();
    this.#columns = columns;
    const lines: Line[] = [];
    const placed: PlacedRow[] = [];
    for (const turn of turns) {
      const { lines: own, starts } = this.#turn(turn, { ...drawn, look: { ...look, columns } });
      if (lines.length > 0 && own.length > 0) lines.push([]);
      placed.push(...starts.map(({ row, line }) => ({ row, turn, line: line + lines.length })));
      lines.push(...own);
    }
    this.#placed = placed;
    if (margin === 0) return lines;
    const line = this.selected?.line;
    const mark = span(`${marksFor(look.unicode).current} `, "cyan");
    return lines.map((each, at) => [at === line ? mark : span(" ".repeat(MARGIN)), ...each]);
  }

  #turn(turn: Turn, { openItemIds, cwd, look }: TranscriptLook): TurnLines {
    const rows = rowsOf({ turns: [turn], openItemIds: [...openItemIds] }, this.#folds);
    const known = this.#known.get(turn.id);
    if (known !== undefined && (known.rows === rows || isSame(known.rows, rows))) return known;
    const starts: { row: Row; line: number }[] = [];
    const shown = rows.map((row) => withoutOwnName(turn, row));
    const lines = drawThread(shown, { look, cwd, began: (row, line) => starts.push({ row, line }) });
    const drawn = { rows, lines, starts };
    this.#known.set(turn.id, drawn);
    return drawn;
  }
}

function isSame(one: readonly Row[], other: readonly Row[]): boolean {
  return one.length === other.length && other.every((row, at) => row === one[at]);
}
