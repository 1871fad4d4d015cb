import { describe, expect, test } from "vitest";
import { Editor } from "../editor/editor.ts";
import { argumentChoices, commandChoices } from "./command-choices.ts";
import { Completer, type FoundFile } from "./completer.ts";
import { shellCommandOf, triggerAt } from "./trigger.ts";

const SITUATION = { thread: true, turns: true, idle: true, running: false, queued: false, waiting: false };

function completing(files: readonly FoundFile[] = []) {
  const editor = new Editor();
  let arrived: () => void = () => {};
  const searches: string[] = [];
  const completer = new Completer({
    findFiles: async (query) => {
      searches.push(query);
      return files.filter(({ path }) => path.startsWith(query));
    },
    commands: () =>
      commandChoices(SITUATION, [{ name: "lint", description: "Check the style" }, { name: "model" }]),
    argumentsOf: (name) =>
      argumentChoices(name, { model: () => [{ name: "claude/opus" }, { name: "flint/offline" }] }),
    changed: () => arrived(),
  });
  const type = (text: string) => {
    for (const key of text) {
      editor.insert(key);
      completer.update(editor);
    }
  };
  const change = () =>
    new Promise<void>((resolve) => {
      arrived = resolve;
    });
  const labels = () =>
    completer
      .window(8)
      .rows.flatMap((row) => (row.type === "item" ? [(row.isSelected ? ">" : "") + row.item.label] : []));
  return { editor, completer, type, change, labels, searches };
}

describe("what is being completed", () => {
  test.each([
    ["@", "", { kind: "file", query: "", before: 1, after: 0 }],
    ["see @src/ma", "in.ts now", { kind: "file", query: "src/ma", before: 7, after: 5 }],
    ['see @"my fi', 'le" x', { kind: "file", query: "my fi", before: 7, after: 3 }],
    ["(@a", ")", { kind: "file", query: "a", before: 2, after: 1 }],
    ["/mo", "del", { kind: "command", query: "mo", before: 3, after: 3 }],
    ["/model op", "", { kind: "argument", query: "op", before: 2, after: 0, command: "model" }],
    ["/new see @x", "", { kind: "file", query: "x", before: 2, after: 0 }],
  ])("%j | %j", (before, after, expected) => {
    expect(triggerAt(0, before, after)).toEqual(expected);
  });

  test.each(["me@example.org", "text", "a /model", "@done ", ""])("%j is nothing to complete", (before) => {
    expect(triggerAt(0, before, "")).toBeUndefined();
  });

  test("a slash is a command in the first line only", () => {
    expect(triggerAt(1, "/mo", "")).toBeUndefined();
  });

  test("an exclamation mark makes a command of the shell", () => {
    expect([shellCommandOf("! ls -l"), shellCommandOf("ls!"), shellCommandOf("!")]).toEqual([
      "ls -l",
      undefined,
      "",
    ]);
  });
});

describe("files", () => {
  const files = [
    { path: "src", isFolder: true },
    { path: "src/main.ts", isFolder: false },
    { path: "src/my notes.md", isFolder: false },
  ];

  test("are offered while they are typed, and inserted as mentions", async () => {
    const { editor, completer, type, change, labels } = completing(files);
    const found = change();
    type("see @src/m");
    await found;
    expect(labels()).toEqual([">src/main.ts", "src/my notes.md"]);
    completer.accept(editor);
    expect([editor.text, completer.isOpen]).toEqual(["see @src/main.ts ", false]);
  });

  test("with spaces are quoted", async () => {
    const { editor, completer, type, change } = completing(files);
    const found = change();
    type("@src/my");
    await found;
    completer.accept(editor);
    expect(editor.text).toBe('@"src/my notes.md" ');
  });

  test("follow a folder that was chosen", async () => {
    const { editor, completer, type, change, searches } = completing(files);
    const found = change();
    type("@s");
    await found;
    const inside = change();
    completer.accept(editor);
    expect(editor.text).toBe("@src/");
    await inside;
    expect([searches.at(-1), completer.isOpen]).toEqual(["src/", true]);
  });

  test("of an earlier text are not inserted", async () => {
    const { editor, completer, type, change, labels } = completing(files);
    const found = change();
    type("@src/ma");
    await found;
    type("k");
    expect(labels()).toEqual([">src/main.ts"]);
    expect([completer.accept(editor), editor.text]).toEqual([false, "@src/mak"]);
  });

  test("of an argument take the place of the list of commands at once", () => {
    const { editor, completer, type } = completing(files);
    type("/export");
    expect(completer.isOpen).toBe(true);
    type(" /tmp/a.md");
    expect(completer.isOpen).toBe(false);
    expect([completer.accept(editor), editor.text]).toEqual([false, "/export /tmp/a.md"]);
  });

  test("that arrive late for an older query are not shown", async () => {
    const { completer, type, change } = completing(files);
    const found = change();
    type("@s");
    type("zzz");
    await found;
    expect(completer.isOpen).toBe(false);
  });
});

describe("commands", () => {
  test("of Flint and of the agent are offered, Flint's before the agent's of the same name", () => {
    const { type, labels, completer, editor } = completing();
    type("/li");
    expect(labels().slice(0, 3)).toEqual([">lint", "limits", "statusline"]);
    type("nt");
    expect(labels()[0]).toBe(">lint");
    completer.accept(editor);
    expect(editor.text).toBe("/lint ");
    const all = commandChoices(SITUATION, [{ name: "model" }]);
    expect(all.filter(({ name }) => name === "model")).toHaveLength(1);
  });

  test("that make no sense now are not offered", () => {
    expect(commandChoices({ ...SITUATION, turns: false }, []).map(({ name }) => name)).not.toContain("fork");
  });

  test("have arguments to complete", () => {
    const { type, labels, completer, editor } = completing();
    type("/model op");
    expect(labels()).toEqual([">claude/opus"]);
    completer.accept(editor);
    expect(editor.text).toBe("/model claude/opus ");
    expect(argumentChoices("theme", {})).toContainEqual({ name: "plain" });
    expect([
      argumentChoices("export", {}),
      argumentChoices("rename", {}),
      argumentChoices("nope", {}),
    ]).toEqual(["files", [], []]);
  });
});

test("a dismissed list stays closed for that word, and opens for the next", () => {
  const { editor, completer, type } = completing();
  type("/m");
  expect(completer.isOpen).toBe(true);
  completer.dismiss(editor);
  type("o");
  expect(completer.isOpen).toBe(false);
  editor.setText("");
  completer.update(editor);
  type("/m");
  expect([completer.isOpen, completer.kind]).toEqual([true, "command"]);
});
