import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Editor } from "./editor.ts";
import { rowText } from "./layout.ts";
import { MOTIONS, type Motion } from "./motions.ts";

/** An editor with a text in which `|` is the cursor. */
function editing(marked: string): Editor {
  const [before = "", after = ""] = marked.split("|");
  const editor = new Editor();
  editor.setText(before + after);
  for (let left = [...new Intl.Segmenter().segment(after)].length; left > 0; left -= 1) editor.move("left");
  return editor;
}

/** The text with `|` at the cursor. */
function shown(editor: Editor): string {
  const lines = editor.text.split("\n");
  lines[editor.cursorLine] = `${editor.beforeCursor}|${editor.afterCursor}`;
  return lines.join("\n");
}

function after(marked: string, action: (editor: Editor) => void): string {
  const editor = editing(marked);
  action(editor);
  return shown(editor);
}

describe("moving", () => {
  test.each<[from: string, motion: Motion, to: string]>([
    ["ab|c", "left", "a|bc"],
    ["ab\n|c", "left", "ab|\nc"],
    ["ab|\nc", "right", "ab\n|c"],
    ["|", "left", "|"],
    ["x|", "right", "x|"],
    ["👨‍👩‍👧|x", "left", "|👨‍👩‍👧x"],
    ["|e\u0301x", "right", "e\u0301|x"],
    ["|🇩🇪🇫🇷", "right", "🇩🇪|🇫🇷"],
    ["one two.three|", "wordLeft", "one two.|three"],
    ["one  |two", "wordLeft", "|one  two"],
    ["one\n|two", "wordLeft", "one|\ntwo"],
    ["|one two", "wordRight", "one| two"],
    ["one|\ntwo", "wordRight", "one\n|two"],
    ["日本語の文章|", "wordLeft", "日本語の|文章"],
    ["a b-c|", "spacedWordLeft", "a |b-c"],
    ["a\nbc|d", "lineStart", "a\n|bcd"],
    ["a\nb|cd\ne", "lineEnd", "a\nbcd|\ne"],
    ["a\nb|", "textStart", "|a\nb"],
    ["|a\nb", "textEnd", "a\nb|"],
  ])("%j %s is %j", (from, motion, to) => {
    expect(after(from, (editor) => editor.move(motion))).toBe(to);
  });

  test("up and down go by rows of the screen and keep the column", () => {
    const editor = editing("a long line here\nx\nanother line|");
    const columns = 8;
    const seen = [];
    while (editor.moveRow("up", columns)) seen.push(editor.layout(columns).cursor);
    expect(seen).toEqual([
      { row: 4, column: 4 },
      { row: 3, column: 1 },
      { row: 2, column: 4 },
      { row: 1, column: 4 },
      { row: 0, column: 4 },
    ]);
    expect(editor.moveRow("down", columns)).toBe(true);
    expect(editor.layout(columns).cursor).toEqual({ row: 1, column: 4 });
  });
});

describe("deleting", () => {
  test.each<[from: string, motion: Motion, to: string]>([
    ["ab|", "left", "a|"],
    ["a👍🏽|", "left", "a|"],
    ["a\n|b", "left", "a|b"],
    ["|ab", "right", "|b"],
    ["a|\nb", "right", "a|b"],
    ["|", "left", "|"],
  ])("from %j %s leaves %j", (from, motion, to) => {
    expect(after(from, (editor) => editor.delete(motion))).toBe(to);
  });

  test("removes what is selected, whatever the motion", () => {
    const editor = editing("one two|");
    editor.move("wordLeft", true);
    expect(editor.selectedText).toBe("two");
    editor.delete("left");
    expect(shown(editor)).toBe("one |");
  });

  test("typing replaces what is selected, and a plain move ends the selection", () => {
    const editor = editing("one two|");
    editor.move("wordLeft", true);
    editor.insert("2");
    expect(shown(editor)).toBe("one 2|");
    editor.move("left", true);
    editor.move("left");
    expect(editor.selectedText).toBeUndefined();
  });
});

describe("the kill ring", () => {
  test("gives back what was cut in a row, in its order", () => {
    const editor = editing("one two three|");
    editor.cut("spacedWordLeft");
    editor.cut("spacedWordLeft");
    expect(shown(editor)).toBe("one |");
    editor.yank();
    expect(shown(editor)).toBe("one two three|");
  });

  test("goes back through what was cut before", () => {
    const editor = editing("first second|");
    editor.cut("wordLeft");
    editor.move("left");
    editor.cut("lineStart");
    editor.move("textEnd");
    editor.yank();
    expect(shown(editor)).toBe(" first|");
    editor.yankEarlier();
    expect(shown(editor)).toBe(" second|");
    editor.yankEarlier();
    expect(shown(editor)).toBe(" first|");
    editor.insert("!");
    editor.yankEarlier();
    expect(shown(editor)).toBe(" first!|");
  });

  test("cuts to the end of the line, and then its line break", () => {
    expect(after("a|bc\nd", (editor) => editor.cut("lineEnd"))).toBe("a|\nd");
    expect(after("a|\nd", (editor) => editor.cut("lineEnd"))).toBe("a|d");
  });
});

describe("undo", () => {
  test("undoes words, runs of deletions, and other changes one by one", () => {
    const editor = new Editor();
    for (const key of "one two") editor.insert(key);
    editor.delete("left");
    editor.delete("left");
    editor.insert("\n");
    const seen = [];
    while (editor.undo()) seen.push(shown(editor));
    expect(seen).toEqual(["one t|", "one two|", "one |", "|"]);
    while (editor.redo()) seen.push(shown(editor));
    expect(seen.slice(4)).toEqual(["one |", "one two|", "one t|", "one t\n|"]);
  });

  test("has nothing to redo after a change, and nothing to undo after the text was sent", () => {
    const editor = editing("a|");
    editor.undo();
    editor.insert("b");
    expect(editor.redo()).toBe(false);
    editor.reset();
    expect([editor.undo(), editor.isEmpty]).toEqual([false, true]);
  });

  test("brings a deleted attachment back", () => {
    const editor = new Editor();
    editor.attachImage({ name: "a.png", path: "/tmp/a.png" });
    editor.delete("left");
    editor.delete("left");
    expect(editor.isEmpty).toBe(true);
    editor.undo();
    expect(editor.input).toEqual([
      { type: "text", text: "[Image 1: a.png]" },
      { type: "localImage", path: "/tmp/a.png" },
    ]);
  });
});

test("transposes the characters around the cursor, or the last two", () => {
  expect(after("ab|c", (editor) => editor.transpose())).toBe("acb|");
  expect(after("abc|", (editor) => editor.transpose())).toBe("acb|");
  expect(after("a|", (editor) => editor.transpose())).toBe("a|");
  expect(after("x\n|ab", (editor) => editor.transpose())).toBe("x\n|ab");
});

test("replaces what a completion was made for", () => {
  expect(after("see @ma| now", (editor) => editor.replaceAround(3, 0, "@src/main.ts "))).toBe(
    "see @src/main.ts | now",
  );
});

describe("a large paste", () => {
  const pasted = Array.from({ length: 120 }, (_, index) => `line ${index}`).join("\n");

  test("is folded, moved over as one character, and sent whole", () => {
    const editor = editing("before|");
    editor.paste(pasted);
    editor.insert("after");
    expect(rowText(editor.layout(80).rows[0])).toBe("before[Pasted 120 lines]after");
    expect(editor.layout(80).cursor).toEqual({ row: 0, column: 29 });
    expect(editor.input).toEqual([{ type: "text", text: `before${pasted}after` }]);
    for (let left = 0; left < 6; left += 1) editor.move("left");
    expect(editor.layout(80).cursor.column).toBe("before".length);
    editor.delete("right");
    expect(editor.text).toBe("beforeafter");
  });

  test("opens in place", () => {
    const editor = editing("before|");
    editor.paste(pasted);
    editor.insert("after");
    expect(editor.unfold()).toBe(true);
    expect(editor.text).toBe(`before${pasted}after`);
    expect(editor.layout(80).rows.length).toBe(120);
    expect(editor.unfold()).toBe(false);
  });

  test("stays folded if it is too large to be edited", () => {
    const editor = new Editor();
    editor.paste("x".repeat(500_000));
    expect([editor.unfold(), editor.layout(40).rows.length]).toEqual([false, 1]);
    editor.setText("y\n".repeat(200_000));
    expect([editor.text.length, editor.layout(40).rows.length]).toEqual([400_000, 1]);
  });

  test("never makes the text larger than a prompt may be", () => {
    const editor = new Editor();
    for (let count = 0; count < 20; count += 1) editor.insert("x".repeat(90_000));
    expect(editor.text.length).toBe(1024 * 1024);
  });

  test("counts a folded paste at its full length", () => {
    const editor = new Editor();
    for (let count = 0; count < 30; count += 1) editor.paste("x".repeat(500_000));
    expect(editor.text.length).toBe(1024 * 1024);
  });

  test("that was cut can be inserted after the prompt was sent", () => {
    const editor = new Editor();
    editor.paste(pasted);
    editor.cut("textStart");
    editor.reset();
    editor.yank();
    expect(editor.text).toBe(pasted);
    editor.paste("y\n".repeat(50));
    expect(editor.text).toBe(`${pasted}${"y\n".repeat(50)}`);
  });

  test("is typed as it is if it is small", () => {
    const editor = new Editor();
    editor.paste("two\r\nlines");
    expect(shown(editor)).toBe("two\nlines|");
  });
});

describe("layout", () => {
  const rows = (text: string, columns: number) => editing(`${text}|`).layout(columns).rows.map(rowText);

  test.each<[text: string, columns: number, rows: readonly string[]]>([
    ["", 10, [""]],
    ["one two three", 8, ["one two ", "three"]],
    ["abcdefghij", 4, ["abcd", "efgh", "ij"]],
    ["abcd", 4, ["abcd", ""]],
    ["日本語", 4, ["日本", "語"]],
    ["日本語", 3, ["日", "本", "語"]],
    ["a\n\nb", 4, ["a", "", "b"]],
    ["a\tb", 10, ["a    b"]],
    ["👨‍👩‍👧x", 10, ["👨‍👩‍👧x"]],
    ["a\u202eb", 20, ["a\\u{202e}b"]],
    ["می\u200cخواهم", 20, ["می\u200cخواهم"]],
  ])("of %j in %d columns", (text, columns, expected) => {
    expect(rows(text, columns)).toEqual(expected);
  });

  test("marks what is selected, and attachments", () => {
    const editor = editing("one|");
    editor.attachImage({ name: "a.png", path: "/a.png" });
    editor.move("textStart");
    editor.move("right", true);
    expect(editor.layout(40).rows).toEqual([
      [
        { text: "o", kind: "selected" },
        { text: "ne", kind: "text" },
        { text: "[Image 1: a.png]", kind: "attachment" },
        { text: " ", kind: "text" },
      ],
    ]);
  });

  test("has the cursor on a row and within the width, wherever it goes", () => {
    const words = fc.array(fc.constantFrom("a", " ", "語", "e\u0301", "👍🏽", "\n", "word", "\t"), {
      maxLength: 30,
    });
    const motions = fc.array(fc.constantFrom(...MOTION_NAMES, "up" as const, "down" as const), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(words, motions, fc.integer({ min: 4, max: 12 }), (text, moves, columns) => {
        const editor = new Editor();
        editor.setText(text.join(""));
        for (const move of moves) {
          if (move === "up" || move === "down") editor.moveRow(move, columns);
          else editor.move(move);
          const { rows: all, cursor } = editor.layout(columns);
          expect(cursor.row).toBeLessThan(all.length);
          expect(cursor.column).toBeLessThan(columns);
        }
        const drawn = editor.layout(columns).rows.map(rowText).join("");
        expect(drawn).toBe(text.join("").replaceAll("\n", "").replaceAll("\t", "    "));
      }),
    );
  });
});

// Object.keys forgets the names.
const MOTION_NAMES = Object.keys(MOTIONS) as Motion[];

test("up always ends in the first row and down in the last", () => {
  const texts = fc.array(fc.constantFrom("ab", " ", "語", "\n", "words"), { maxLength: 30 });
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 9 }), (text, columns) => {
      const editor = new Editor();
      editor.setText(text.join(""));
      const { length } = editor.layout(columns).rows;
      for (let count = 0; count < length; count += 1) editor.moveRow("up", columns);
      expect([editor.layout(columns).cursor.row, editor.moveRow("up", columns)]).toEqual([0, false]);
      for (let count = 0; count < length; count += 1) editor.moveRow("down", columns);
      expect([editor.layout(columns).cursor.row, editor.moveRow("down", columns)]).toEqual([
        length - 1,
        false,
      ]);
    }),
  );
});

test("any sequence of edits can be undone to the empty text and redone", () => {
  const edits = fc.array(
    fc.oneof(
      fc.constantFrom("a", "語", "\n", "two words").map((text) => (editor: Editor) => editor.insert(text)),
      fc.constantFrom(...MOTION_NAMES).map((motion) => (editor: Editor) => editor.move(motion)),
      fc.constantFrom(...MOTION_NAMES).map((motion) => (editor: Editor) => editor.delete(motion)),
      fc.constantFrom(...MOTION_NAMES).map((motion) => (editor: Editor) => editor.cut(motion)),
      fc.constant((editor: Editor) => editor.yank()),
      fc.constant((editor: Editor) => editor.yankEarlier()),
      fc.constant((editor: Editor) => editor.transpose()),
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(edits, (all) => {
      const editor = new Editor();
      for (const edit of all) edit(editor);
      const text = editor.text;
      while (editor.undo());
      expect(editor.text).toBe("");
      while (editor.redo());
      expect(editor.text).toBe(text);
    }),
  );
});
