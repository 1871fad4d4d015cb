import { isRecord, textField } from "../fields.ts";

/**
 * The text of a notebook after Claude's tool for it changed one cell; undefined if that cannot be told, as for a new
 * cell, which gets an id by chance.
 */
export function editedNotebook(text: string, input: Readonly<Record<string, unknown>>): string | undefined {
  const notebook = parsed(text);
  const cells = isRecord(notebook) && Array.isArray(notebook.cells) ? notebook.cells : undefined;
  const source = textField(input, "new_source");
  const mode = textField(input, "edit_mode") ?? "replace";
  if (cells === undefined || source === undefined || mode === "insert") return undefined;
  const at = placeOf(cells, textField(input, "cell_id"));
  const cell: unknown = cells[at];
  if (!isRecord(cell)) return undefined;
  const changed = cells.flatMap((other: unknown, index): unknown[] => {
    if (index !== at) return [other];
    return mode === "delete" ? [] : [withSource(cell, source, textField(input, "cell_type"))];
  });
  return JSON.stringify({ ...Object(notebook), cells: changed }, undefined, 1);
}

/** Cells that have no id of their own are called by their place. */
function placeOf(cells: readonly unknown[], cellId: string | undefined): number {
  if (cellId === undefined) return 0;
  const byId = cells.findIndex((cell) => textField(cell, "id") === cellId);
  return byId === -1 ? Number(/^cell-(\d+)$/.exec(cellId)?.[1] ?? -1) : byId;
}

function withSource(cell: object, source: string, type: string | undefined): object {
  const kind = type ?? textField(cell, "cell_type");
  const ran = kind === "code" ? { execution_count: null, outputs: [] } : {};
  return { ...cell, source, ...ran, ...(type === undefined ? {} : { cell_type: type }) };
}

function parsed(text: string): unknown {
  // Expected: a file that is no notebook.
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
