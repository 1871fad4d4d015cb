import type { ThreadItem } from "@flint/protocol";
import { expectGolden } from "@flint/testkit";
import { approvalPrompt, rowOf, rowsOf } from "@flint/view";
import { EVERY_ITEM, everyStatus, turnWith } from "@flint/view/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canSplit, splitDiff } from "./diff.ts";
import { drawApproval } from "./draw-row.ts";
import { drawThread } from "./draw-thread.ts";
import { textOf, textWidth } from "./line.ts";
import { markdownLines } from "./markdown.ts";
import type { RenderOptions } from "./render-options.ts";
import { StreamedMarkdown } from "./streamed-markdown.ts";
import { styled } from "./styled.ts";

const look = (columns: number, rest: Partial<RenderOptions> = {}): RenderOptions => ({
  ...{ columns, rows: 24, colour: true, unicode: true },
  ...rest,
});
const how = "Ctrl-O shows all";

/** Returns a whole thread as it is written to the terminal. */
function drawn(columns: number, rest: Partial<RenderOptions> = {}, fold?: "open"): string[] {
  const items = Object.entries(everyStatus()).map(([id, item]): ThreadItem => ({ ...item, id }));
  const turn = turnWith(items, {
    ...{ durationMs: 75_000, waitedMs: 63_000, status: "failed", error: { message: "no key" } },
    declined: [{ itemId: "x", what: "npm publish", reason: "a rule forbids it", by: "rule" }],
  });
  const folds = new Map(fold === undefined ? [] : items.map(({ id }) => [id, fold] as const));
  const rows = rowsOf({ turns: [turn], openItemIds: [] }, folds);
  const as = look(columns, rest);
  return drawThread(rows, { look: as, cwd: "/repo", how }).map((line) => styled(line, as.colour));
}

describe("every item type in every status is drawn as before", () => {
  test.each([40, 80, 120])("on %i columns", (columns) => {
    expectGolden(new URL(`../testing/fixtures/thread-${columns}.json`, import.meta.url), drawn(columns));
  });
  test("in ASCII without colours", () => {
    const plain = drawn(80, { colour: false, unicode: false });
    expectGolden(new URL("../testing/fixtures/thread-plain.json", import.meta.url), plain);
    // Drawing adds nothing beyond ASCII.
    for (const line of plain) expect(line).toMatch(/^[\x20-\x7e]*$/);
  });
  test("with everything open", () => {
    const open = drawn(80, { colour: false }, "open");
    expectGolden(new URL("../testing/fixtures/thread-open.json", import.meta.url), open);
    expect(open.filter((line) => line.includes("line 30"))).toHaveLength(1);
  });
});

test("folded output shows its beginning and its end, and says how to see the rest", () => {
  const item = everyStatus()["command with long output"];
  if (item === undefined) throw new Error("the example is missing");
  const lines = drawThread([rowOf(item)], { look: look(80), cwd: "/", how }).map(textOf);
  expect(lines).toContain("  line 3");
  expect(lines).toContain("  … 50 more lines (Ctrl-O shows all)");
  expect(lines).toContain("  line 60");
  expect(lines).not.toContain("  line 30");
});

const MARKDOWN = `# Title

A paragraph with **bold**, *italic*, \`code\` and [a link](https://example.com/a).

| Name | What it does | Size |
|------|--------------|-----:|
| one  | a very long explanation of the thing that does not fit | 1 |
| two  | short | 22 |

- [x] done
- [ ] open
  1. first
  2. second

\`\`\`ts
const a = "text"; // why
\`\`\`

> quoted
`;

test.each([24, 60, 100])("draws Markdown on %i columns", (columns) => {
  const rows = markdownLines(MARKDOWN, look(columns)).map((line) => styled(line, true));
  expectGolden(new URL(`../testing/fixtures/markdown-${columns}.json`, import.meta.url), rows);
});

test("the address of a link is always shown, and nothing but its text is drawn", () => {
  const text = (markdown: string) => markdownLines(markdown, look(80)).map(textOf);
  expect(text("[your bank](https://evil.example)")).toEqual(["your bank (https://evil.example)"]);
  expect(text("<https://a.b>")).toEqual(["https://a.b"]);
  expect(text("[x](javascript:alert(1))")).toEqual(["x (javascript:alert(1))"]);
});

test("a table that does not fit becomes a list", () => {
  const table = "| first | second | third |\n|---|---|---|\n| abcdefghijk | lmnopqrstuv | wxyz0123456 |";
  expect(markdownLines(table, look(24)).map(textOf)).toEqual([
    "first: abcdefghijk",
    "second: lmnopqrstuv",
    "third: wxyz0123456",
  ]);
});

const NASTY = [
  ...["\u001b]8;;http://x\u0007", "\u001b[2J", "\r", "\u0000", "\u202e", "\u200b", "\u009b31m", "\u0085"],
  ...[
    "**",
    "`",
    "```\n",
    "- ",
    "| a |\n|---|\n",
    "[x](",
    ")",
    "\n",
    "\n\n",
    "> ",
    "# ",
    "word",
    "漢字",
    "👨‍👩‍👧",
    "\t",
  ],
];
const nasty = fc.array(fc.constantFrom(...NASTY), { maxLength: 30 }).map((pieces) => pieces.join(""));
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what must not be there
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2028\u2029]/;

test("drawing never emits a control character of an agent [P36]", () => {
  fc.assert(
    fc.property(nasty, fc.constantFrom(8, 24, 80), (text, columns) => {
      const items: ThreadItem[] = [
        { ...EVERY_ITEM.agentMessage, text },
        { ...EVERY_ITEM.reasoning, content: text },
        { ...EVERY_ITEM.commandExecution, command: text, aggregatedOutput: text },
        { ...EVERY_ITEM.toolCall, title: text, arguments: { [text]: text }, result: text, error: text },
        { ...EVERY_ITEM.fileChange, changes: [{ path: text, kind: "modify", diff: text }] },
        { ...EVERY_ITEM.userMessage, content: [{ type: "text", text }], _meta: { client: text } },
        { ...EVERY_ITEM.hookRun, name: text, output: text },
        { ...EVERY_ITEM.webSearch, query: text },
      ];
      const rows = items.map((item) => ({ ...rowOf(item), fold: "open" as const }));
      for (const line of drawThread(rows, { look: look(columns), cwd: "/" })) {
        expect(textOf(line)).not.toMatch(CONTROL);
      }
    }),
    { numRuns: 150 },
  );
});

test("no row of a message is wider than the terminal, unless a single character is", () => {
  fc.assert(
    fc.property(nasty, fc.integer({ min: 14, max: 60 }), (text, columns) => {
      for (const line of markdownLines(text, look(columns))) {
        expect(textWidth(textOf(line))).toBeLessThanOrEqual(Math.max(columns, 30));
      }
    }),
    { numRuns: 150 },
  );
});

test("any chunking of a streamed message gives the same rows as drawing it once", () => {
  fc.assert(
    fc.property(nasty, fc.array(fc.nat(80), { maxLength: 10 }), (text, cuts) => {
      const streamed = new StreamedMarkdown();
      const rows: string[] = [];
      let from = 0;
      for (const cut of [...cuts, text.length].sort((left, right) => left - right)) {
        const to = Math.min(cut, text.length);
        streamed.add(text.slice(from, to), from);
        from = to;
        rows.push(...streamed.takeRows(look(30)).map(textOf));
        streamed.openRows(look(30));
      }
      streamed.end();
      rows.push(...streamed.takeRows(look(30)).map(textOf));
      expect(rows).toEqual(markdownLines(text, look(30)).map(textOf));
    }),
    { numRuns: 300 },
  );
});

test("code is final line by line, also when the terminal is resized while it is written", () => {
  const streamed = new StreamedMarkdown();
  streamed.add("```\none\ntwo\nthr", 0);
  expect(streamed.takeRows(look(80)).map(textOf)).toEqual(["  one", "  two"]);
  expect(streamed.openRows(look(20)).map(textOf)).toEqual(["  thr"]);
  streamed.add("ee\n```\n", 15);
  streamed.end();
  expect(streamed.takeRows(look(20)).map(textOf)).toEqual(["  three"]);
});

test("a diff in two columns has the old file on the left", () => {
  const [block] = rowOf(EVERY_ITEM.fileChange).body;
  if (block?.kind !== "diff") throw new Error("expected a diff");
  const rows = splitDiff(block, look(61), 61).map(textOf);
  expect(rows).toEqual([
    "@@ -8,3 +8,4 @@",
    " 8  const one = 1;            │  8  const one = 1;           ",
    " 9 -const total = one;        │  9 +const total = one + 1;   ",
    '                              │ 10 +const name = "sum";      ',
    "10  export { total };         │ 11  export { total };        ",
  ]);
  expect([99, 120].map((columns) => canSplit({ columns }))).toEqual([false, true]);
  expect(canSplit({ columns: 120, isPlain: true })).toBe(false);
});

test("an approval is never cut, however narrow the terminal is", () => {
  const command = `echo ${"x".repeat(500)}`;
  const { head } = drawApproval(
    approvalPrompt({ kind: "command", itemId: "c", cwd: "/", command }),
    look(20),
    "/",
  );
  expect(head.map(textOf).join("")).toContain(command);
});
