import type { ThreadItem, ThreadState, Turn } from "@flint/protocol";
import { rowOf } from "../items.ts";
import type { Fold, Row } from "../row.ts";
import { turnEndRow, turnStartRow } from "./turn-rows.ts";

/** Rows that the user has opened or closed, by key. */
export type Folds = Pick<ReadonlyMap<string, Fold>, "get">;

/** The facts known about items besides the state of their thread, because it is not stored. */
export interface LiveFacts {
  /** The last progress message of a call in progress, by item. */
  readonly progress?: ReadonlyMap<string, string> | undefined;
}

const NO_FOLDS: Folds = new Map();

/**
 * The whole thread as rows, oldest first. An unchanged item has the same row as before, so that a screen can compare rows
 * by identity. Items of sub-agents follow the call that started them; they are left out while that call is closed.
 */
export function rowsOf(
  state: Pick<ThreadState, "turns" | "openItemIds">,
  folds: Folds = NO_FOLDS,
  live: LiveFacts = {},
): readonly Row[] {
  return state.turns.flatMap((turn) => turnRows(turn, state.openItemIds, folds, live));
}

interface TurnRows {
  readonly open: string;
  readonly folds: Folds;
  readonly progress: LiveFacts["progress"];
  readonly rows: readonly Row[];
}

const turns = new WeakMap<Turn, TurnRows>();

/** The rows of one turn; the same array as before if nothing in it has changed. */
function turnRows(
  turn: Turn,
  openItemIds: readonly string[],
  folds: Folds,
  { progress }: LiveFacts,
): readonly Row[] {
  const isRunning = turn.status === "inProgress";
  const open = isRunning ? openItemIds.join() : "";
  const known = turns.get(turn);
  const isSame = known?.folds === folds && known.open === open && (!isRunning || known.progress === progress);
  if (known !== undefined && isSame) return known.rows;
  const context: Context = {
    turnId: turn.id,
    open: new Set(isRunning ? openItemIds : []),
    folds,
    progress: isRunning ? progress : undefined,
  };
  const rows = [
    ...(memoised(turn, "start", turnStartRow) ?? []),
    ...itemRows(turn.items, context),
    ...(memoised(turn, "end", turnEndRow) ?? []),
  ];
  turns.set(turn, { open, folds, progress, rows });
  return rows;
}

const boundaries = new WeakMap<Turn, Map<string, readonly Row[]>>();

function memoised(turn: Turn, which: string, make: (turn: Turn) => Row | undefined): readonly Row[] {
  const known = boundaries.get(turn) ?? new Map<string, readonly Row[]>();
  boundaries.set(turn, known);
  const made = known.get(which);
  if (made !== undefined) return made;
  const row = make(turn);
  const rows = row === undefined ? [] : [row];
  known.set(which, rows);
  return rows;
}

interface Context {
  readonly turnId: string;
  readonly open: ReadonlySet<string>;
  readonly folds: Folds;
  readonly progress: LiveFacts["progress"];
}

/** Items in order, those of a sub-agent after the call that started it. */
function itemRows(items: readonly ThreadItem[], context: Context): Row[] {
  const before = new Set<string>();
  const children = new Map<string, ThreadItem[]>();
  const roots: ThreadItem[] = [];
  for (const item of items) {
    const parent = parentOf(item);
    // A call starts before its steps. Items that name another one, or each other, are not nested.
    if (parent === undefined || !before.has(parent)) roots.push(item);
    else children.set(parent, [...(children.get(parent) ?? []), item]);
    before.add(item.id);
  }
  if (children.size === 0) return roots.map((item) => itemRow(item, context, 0, 0));
  const rows: Row[] = [];
  const visit = (item: ThreadItem, depth: number) => {
    const inner = children.get(item.id) ?? [];
    const row = itemRow(item, context, depth, inner.length);
    rows.push(row);
    if (inner.length === 0 || row.fold === "closed") return;
    for (const child of inner) visit(child, depth + 1);
  };
  for (const item of roots) visit(item, 0);
  return rows;
}

/** The call that started the sub-agent of an item. */
export function parentOf(item: ThreadItem): string | undefined {
  const parent: unknown = Reflect.get(item, "parentItemId") ?? item._meta?.parentItemId;
  return typeof parent === "string" ? parent : undefined;
}

interface MadeRow {
  readonly signature: string;
  readonly row: Row;
}

const made = new WeakMap<ThreadItem, MadeRow>();

/** The row of an item at its place. Its last row is kept and returned again if its place is the same. */
function itemRow(item: ThreadItem, context: Context, depth: number, steps: number): Row {
  const plain = rowOf(item);
  const isOpen = context.open.has(item.id);
  const progress = context.progress?.get(item.id) ?? "";
  const fold = foldOf(plain, context.folds.get(plain.key), isOpen, steps);
  const signature = `${context.turnId}\n${fold ?? ""}\n${isOpen}\n${depth}\n${steps}\n${progress}`;
  const known = made.get(item);
  if (known?.signature === signature) return known.row;
  const row: Row = {
    ...plain,
    turnId: context.turnId,
    status: isOpen && plain.status === "completed" ? "inProgress" : plain.status,
    fold,
    depth,
    meta: [
      ...plain.meta,
      ...(fold === "closed" && steps > 0 ? [muted(`${steps} step${steps === 1 ? "" : "s"}`)] : []),
      ...(progress === "" ? [] : [muted(progress)]),
    ],
    actions:
      fold === undefined || plain.actions.includes("toggleFold")
        ? plain.actions
        : ["toggleFold", ...plain.actions],
  };
  made.set(item, { signature, row });
  return row;
}

/** A call with a sub-agent at work shows its steps; other details are hidden until they are wanted. */
function foldOf(
  { fold, status }: Row,
  chosen: Fold | undefined,
  isOpen: boolean,
  steps: number,
): Fold | undefined {
  if (fold === undefined && steps === 0) return undefined;
  if (chosen !== undefined) return chosen;
  if (steps > 0) return isOpen || status === "inProgress" ? "open" : "closed";
  return fold;
}

function muted(text: string) {
  return { text, emphasis: "muted" } as const;
}
