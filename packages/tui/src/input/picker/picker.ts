import { fuzzyMatch } from "@flint/host/globs";

/** A row that can be chosen. */
export interface PickerItem<Value> {
  readonly value: Value;
  readonly label: string;
  /** Its meaning; searched too, but matches of the label come first. */
  readonly detail?: string | undefined;
  /** The heading it is under while nothing is searched for. Items of a group come after each other. */
  readonly group?: string | undefined;
}

/** An item that matches, and which characters of its label do. */
export interface PickerMatch<Value> {
  readonly item: PickerItem<Value>;
  readonly indices: readonly number[];
}

/** A row to draw: a heading, or an item. */
export type PickerRow<Value> =
  | { readonly type: "group"; readonly title: string }
  | ({ readonly type: "item"; readonly isSelected: boolean } & PickerMatch<Value>);

/** The rows that fit, and how many items there are above and below them. */
export interface PickerWindow<Value> {
  readonly rows: readonly PickerRow<Value>[];
  readonly above: number;
  readonly below: number;
}

/** Long enough for any search; a paste may be longer. */
const MAX_QUERY = 200;

/** A list to choose from, narrowed down by typing. Without a search it keeps its order and its groups. */
export class Picker<Value> {
  #items: readonly PickerItem<Value>[];
  #query = "";
  #matches: readonly PickerMatch<Value>[];
  #at = 0;

  constructor(items: readonly PickerItem<Value>[], selected?: Value) {
    this.#items = items;
    this.#matches = matchesOf(items, "");
    this.#select(selected);
  }

  get query(): string {
    return this.#query;
  }

  /** Number of items that match. */
  get count(): number {
    return this.#matches.length;
  }

  /** The position of the selected item among those that match, from 0. */
  get position(): number {
    return this.#at;
  }

  /** The selected item; undefined if none matches. */
  get selected(): PickerItem<Value> | undefined {
    return this.#matches[this.#at]?.item;
  }

  /** Replaces the items. The same value stays selected if it is still there. */
  setItems(items: readonly PickerItem<Value>[]): void {
    const selected = this.selected?.value;
    const at = this.#at;
    this.#items = items;
    this.#matches = matchesOf(items, this.#query);
    this.#at = Math.max(0, Math.min(at, this.count - 1));
    this.#select(selected);
  }

  /** Replaces what is searched for, and selects the best match. */
  setQuery(query: string): void {
    const requested = query.slice(0, MAX_QUERY);
    if (requested === this.#query) return;
    this.#query = requested;
    this.#matches = matchesOf(this.#items, requested);
    this.#at = 0;
  }

  /** Types into the search. */
  type(text: string): void {
    this.setQuery(this.#query + text);
  }

  /** Takes the last character of the search back. False if there is none. */
  erase(): boolean {
    if (this.#query === "") return false;
    this.setQuery(Array.from(this.#query).slice(0, -1).join(""));
    return true;
  }

  /** Moves the selection; by one it goes round, by more it stops at the ends. */
  move(by: number): void {
    if (this.count === 0) return;
    const next = this.#at + by;
    this.#at =
      Math.abs(by) === 1 ? (next + this.count) % this.count : Math.max(0, Math.min(next, this.count - 1));
  }

  /** Returns the items that fit in a number of rows, with the selected item among them. */
  window(rows: number): PickerWindow<Value> {
    const all = this.#rows();
    const selected = all.findIndex((row) => row.type === "item" && row.isSelected);
    const height = Math.max(1, rows);
    const from = Math.max(0, Math.min(selected - Math.floor(height / 2), all.length - height));
    // One row alone shows the item, never its heading.
    const start = height === 1 ? Math.max(0, selected) : from;
    const shown = all.slice(start, start + height);
    return { rows: shown, above: itemsIn(all.slice(0, start)), below: itemsIn(all.slice(start + height)) };
  }

  #rows(): readonly PickerRow<Value>[] {
    return this.#matches.flatMap((match, index): PickerRow<Value>[] => {
      const { group } = match.item;
      const isFirst = group !== undefined && group !== this.#matches[index - 1]?.item.group;
      const row = { type: "item" as const, isSelected: index === this.#at, ...match };
      return this.#query === "" && isFirst ? [{ type: "group", title: group }, row] : [row];
    });
  }

  #select(value: Value | undefined): void {
    const at = value === undefined ? -1 : this.#matches.findIndex(({ item }) => item.value === value);
    if (at !== -1) this.#at = at;
  }
}

function itemsIn(rows: readonly PickerRow<unknown>[]): number {
  return rows.filter(({ type }) => type === "item").length;
}

/** Bonus for a position where the text itself occurs, over letters that are spread out. */
const WHOLE = 1_000;

function matchesOf<Value>(items: readonly PickerItem<Value>[], query: string): readonly PickerMatch<Value>[] {
  const requested = query.trim();
  if (requested === "") return items.map((item) => ({ item, indices: [] }));
  return items
    .flatMap((item) => scored(item, requested))
    .sort((left, right) => right.score - left.score)
    .map(({ item, indices }) => ({ item, indices }));
}

function scored<Value>(item: PickerItem<Value>, query: string): (PickerMatch<Value> & { score: number })[] {
  const at = item.label.toLowerCase().indexOf(query.toLowerCase());
  if (at !== -1) {
    const indices = Array.from({ length: query.length }, (_, index) => at + index);
    return [{ item, indices, score: WHOLE + (at === 0 ? WHOLE : 0) - item.label.length }];
  }
  const match = fuzzyMatch(query, item.label);
  if (match !== undefined) return [{ item, ...match }];
  const words = query.toLowerCase().split(/\s+/);
  const text = `${item.label} ${item.detail ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word)) ? [{ item, indices: [], score: 0 }] : [];
}
