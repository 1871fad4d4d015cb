import { expect, test } from "vitest";
import { Picker, type PickerItem } from "./picker.ts";

const ITEMS: readonly PickerItem<string>[] = [
  { value: "opus", label: "claude/opus", detail: "most capable", group: "claude" },
  { value: "sonnet", label: "claude/sonnet", detail: "fast and capable", group: "claude" },
  { value: "gpt", label: "codex/gpt-6", detail: "default", group: "codex" },
  { value: "offline", label: "flint/offline", group: "flint" },
];

function shown(picker: Picker<string>, rows = 20): string[] {
  return picker.window(rows).rows.map((row) => {
    if (row.type === "group") return `# ${row.title}`;
    return `${row.isSelected ? "> " : "  "}${row.item.label}`;
  });
}

test("shows groups and order while nothing is searched for", () => {
  expect(shown(new Picker(ITEMS, "gpt"))).toEqual([
    "# claude",
    "  claude/opus",
    "  claude/sonnet",
    "# codex",
    "> codex/gpt-6",
    "# flint",
    "  flint/offline",
  ]);
});

test("is narrowed by typing, best match first, with the letters that match", () => {
  const picker = new Picker(ITEMS);
  picker.type("son");
  expect(shown(picker)).toEqual(["> claude/sonnet"]);
  expect(picker.window(1).rows[0]).toMatchObject({ indices: [7, 8, 9] });
  picker.setQuery("cop");
  expect(shown(picker)).toEqual(["> claude/opus", "  codex/gpt-6"]);
  picker.setQuery("off");
  expect(picker.selected?.value).toBe("offline");
});

test("finds what only the detail says, after what the label says", () => {
  const picker = new Picker([{ value: "x", label: "x", detail: "codex things" }, ...ITEMS]);
  picker.type("codex");
  expect(shown(picker)).toEqual(["> codex/gpt-6", "  x"]);
  picker.setQuery("capable fast");
  expect(shown(picker)).toEqual(["> claude/sonnet"]);
});

test("says when nothing matches, and comes back", () => {
  const picker = new Picker(ITEMS);
  picker.type("zzz");
  picker.move(1);
  expect([picker.count, picker.selected, shown(picker)]).toEqual([0, undefined, []]);
  expect([picker.erase(), picker.erase(), picker.erase(), picker.erase()]).toEqual([true, true, true, false]);
  expect(picker.count).toBe(4);
});

test("does not search for a huge paste", () => {
  const picker = new Picker(ITEMS);
  picker.type("x".repeat(1_000_000));
  expect(picker.query.length).toBe(200);
});

test("moves round by one, and stops at the ends by more", () => {
  const picker = new Picker(ITEMS);
  picker.move(-1);
  expect(picker.selected?.value).toBe("offline");
  picker.move(1);
  picker.move(-10);
  expect(picker.position).toBe(0);
  picker.move(10);
  expect(picker.selected?.value).toBe("offline");
});

test("keeps the selected item in sight, and counts the others", () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ value: index, label: `item ${index}` }));
  const picker = new Picker<number>(many, 50);
  for (const rows of [1, 2, 5]) {
    const window = picker.window(rows);
    expect(window.rows.some((row) => row.type === "item" && row.item.value === 50)).toBe(true);
    expect(window.above + window.below + window.rows.length).toBe(100);
  }
});

test("keeps what is selected when the items change", () => {
  const picker = new Picker(ITEMS, "gpt");
  picker.setItems([{ value: "new", label: "new" }, ...ITEMS]);
  expect(picker.selected?.value).toBe("gpt");
  picker.setItems(ITEMS.slice(0, 1));
  expect(picker.selected?.value).toBe("opus");
  picker.setItems([]);
  expect(picker.selected).toBeUndefined();
});
