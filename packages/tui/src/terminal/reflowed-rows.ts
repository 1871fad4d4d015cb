interface ReflowedRow {
  width: number;
  /** Rows of the terminal that it takes. */
  height: number;
}

/**
 * The live rows on a terminal whose width changes between two frames, and where its cursor is among them, as xterm.js 6 wraps
 * them. It does not wrap the line of the cursor, and moves the cursor by each row that it adds or removes, also below.
 */
export class ReflowedRows {
  readonly #rows: readonly ReflowedRow[];
  #columns: number;
  #cursor: number;

  constructor(widths: readonly number[], columns: number, cursorRow: number) {
    this.#rows = widths.map((width) => ({ width, height: heightOf(width, columns) }));
    this.#columns = columns;
    this.#cursor = this.above(cursorRow);
  }

  /** The number of rows that the cursor is below the start of the first one. */
  get cursor(): number {
    return this.#cursor;
  }

  /** The number of rows that those before one take. */
  above(row: number): number {
    return this.#rows.slice(0, row).reduce((total, { height }) => total + height, 0);
  }

  /** Wraps the rows to another width. */
  resize(columns: number): void {
    if (columns === this.#columns) return;
    const isNarrower = columns < this.#columns;
    const rows = this.#rows.map((row, at) => ({ row, start: this.above(at) }));
    const before = this.#cursor;
    // The place of the cursor is compared with old places of rows, though rows below have moved it before.
    for (const { row, start } of rows.reverse()) {
      const cursor = isNarrower ? this.#cursor : before;
      if (row.height === 1 && row.width <= columns) continue;
      if (cursor >= start && cursor < start + row.height) cutRow(row, this.#columns, columns);
      else this.#cursor += rewrap(row, columns);
    }
    this.#columns = columns;
  }
}

function heightOf(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / columns));
}

/** Gives how many rows more it takes. */
function rewrap(row: ReflowedRow, columns: number): number {
  const before = row.height;
  row.height = heightOf(row.width, columns);
  return row.height - before;
}

/** Each of its rows is cut or filled up. */
function cutRow(row: ReflowedRow, before: number, columns: number): void {
  const last = row.width - (row.height - 1) * before;
  row.width = (row.height - 1) * columns + Math.min(last, columns);
}
