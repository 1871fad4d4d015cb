import fc from "fast-check";
import { expect, test } from "vitest";
import type { MarkdownBlock } from "./blocks.ts";
import { inlineText } from "./blocks.ts";
import { highlightLine } from "./highlight.ts";
import { MarkdownStream, parseMarkdown } from "./stream.ts";

/** A block in a few words. */
function brief(block: MarkdownBlock): unknown {
  switch (block.kind) {
    case "heading":
      return `h${block.depth} ${inlineText(block.inline)}`;
    case "paragraph":
      return inlineText(block.inline);
    case "code":
      return ["code", block.language, block.text];
    case "quote":
      return ["quote", ...block.blocks.map(brief)];
    case "list":
      return [
        block.start === undefined ? "list" : `list ${block.start}`,
        ...block.items.map(({ checked, blocks }) => [checked ?? "-", ...blocks.map(brief)]),
      ];
    case "table":
      return [
        "table",
        block.align,
        block.head.map(inlineText),
        ...block.rows.map((row) => row.map(inlineText)),
      ];
    case "rule":
      return "---";
  }
}

const shown = (text: string) => parseMarkdown(text).map(brief);

test("reads headings, paragraphs, code, quotes, rules and tables", () => {
  const text =
    "# One\n\nA *b* **c** `d` ~~e~~.\n\n```ts run\nconst a = 1;\n\nb\n```\n\n> quoted\n> > twice\n\n---\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n";
  expect(shown(text)).toEqual([
    "h1 One",
    "A b c d e.",
    ["code", "ts", "const a = 1;\n\nb"],
    ["quote", "quoted", ["quote", "twice"]],
    "---",
    ["table", [undefined, "right"], ["a", "b"], ["1", "2"]],
  ]);
});

test("reads nested lists and task lists, also with blank lines between their entries", () => {
  expect(shown("- a\n  - b\n\n- [x] c\n- [ ] d\n\n3. e\n\n   f\n4. g\n")).toEqual([
    ["list", ["-", "a", ["list", ["-", "b"]]], [true, "c"], [false, "d"]],
    ["list 3", ["-", "e", "f"], ["-", "g"]],
  ]);
});

test("reads links, images and breaks", () => {
  const [block] = parseMarkdown(
    "[text](https://a.b/c) ![alt](x.png) <https://d.e> &lt;&amp;&bogus;  \nend \\*",
  );
  expect(block).toEqual({
    kind: "paragraph",
    inline: [
      { kind: "link", url: "https://a.b/c", inline: [{ kind: "text", text: "text" }] },
      { kind: "text", text: " " },
      { kind: "image", url: "x.png", alt: "alt" },
      { kind: "text", text: " " },
      { kind: "link", url: "https://d.e", inline: [{ kind: "text", text: "https://d.e" }] },
      { kind: "text", text: " <&&bogus;" },
      { kind: "break" },
      { kind: "text", text: "end " },
      { kind: "text", text: "*" },
    ],
  });
});

test("hides nothing: HTML and definitions of links are text", () => {
  expect(shown("<script>alert(1)</script>\n\n[1]: https://a.b")).toEqual([
    "<script>alert(1)</script>",
    "[1]: https://a.b",
  ]);
});

test("shows what cannot be lexed in reasonable time or depth as text", () => {
  const deep = "> ".repeat(5_000);
  expect(parseMarkdown(`${deep}a`).length).toBeGreaterThan(0);
  const long = "*a".repeat(20_000);
  expect(shown(long)).toEqual([long]);
  const code = "x\n".repeat(50_000);
  expect(shown(`\`\`\`\n${code}\`\`\``)).toEqual([["code", "", code.trimEnd()]]);
});

const PIECES = [
  ...["# h\n", "para\n", "\n", "\n\n", "- a\n", "  - b\n", "1. c\n", "10", ") d\n", "    code\n", "> q\n"],
  ...["```ts\n", "```\n", "~~~\n", "```", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "---\n", "===\n"],
  ...["**b", "**", "*", "_", "`", "[t](u)", "[r]: x\n", "<div>\n", "<!-- ", "-->\n", "<pre>\n", "</pre>\n"],
  ...["\r\n", "\r", "\t", " ", "word ", "é", "😀", "\u0000", "\u001b[31m", "- [ ] t\n", "&amp;"],
];
const markdown = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(""));

test("any chunking of a stream gives the same blocks as reading it once", () => {
  fc.assert(
    fc.property(markdown, fc.array(fc.nat(200), { maxLength: 12 }), (text, cuts) => {
      const stream = new MarkdownStream();
      const frozen: MarkdownBlock[] = [];
      for (const cut of [...cuts].sort((left, right) => left - right)) {
        stream.update(text.slice(0, cut));
        // What is frozen stays the same object.
        expect(stream.frozen.slice(0, frozen.length).every((block, at) => block === frozen[at])).toBe(true);
        frozen.splice(0, frozen.length, ...stream.frozen);
      }
      stream.update(text);
      expect(stream.blocks).toEqual(parseMarkdown(text));
    }),
    { numRuns: 400 },
  );
});

test("nothing that was written is lost", () => {
  const text = "one\n\n- two\n\n  three\n\nfour\n\n```\nfive\n\nsix";
  const all = JSON.stringify(shown(text));
  for (const word of ["one", "two", "three", "four", "five", "six"]) expect(all).toContain(word);
});

test("freezes finished blocks while the last one grows", () => {
  const stream = new MarkdownStream();
  stream.update("# One\n\nTwo\n\nThr");
  expect(stream.frozen.map(brief)).toEqual(["h1 One"]);
  stream.update("# One\n\nTwo\n\nThree\n");
  expect(stream.frozen.map(brief)).toEqual(["h1 One", "Two"]);
  expect(stream.open.map(brief)).toEqual(["Three"]);
  stream.update("other");
  expect(stream.blocks.map(brief)).toEqual(["other"]);
});

test("highlights keywords, strings, comments and numbers, also over several lines", () => {
  const { pieces } = highlightLine('const a = "x\\"y" + 0x1f; // end', "ts");
  expect(pieces.map(({ kind, text }) => `${kind}:${text}`)).toEqual([
    "keyword:const",
    "plain: a = ",
    'string:"x\\"y"',
    "plain: + ",
    "number:0x1f",
    "plain:; ",
    "comment:// end",
  ]);
  const first = highlightLine("a /* b", "c");
  expect(highlightLine("c */ int", "c", first.state).pieces.map(({ kind }) => kind)).toEqual([
    "comment",
    "plain",
    "keyword",
  ]);
  expect(highlightLine("echo $# # x", "bash").pieces.at(-1)).toEqual({ kind: "comment", text: "# x" });
});

test("highlighting never changes the text, in any language", () => {
  const code = fc.string({ unit: "grapheme", maxLength: 60 });
  const language = fc.constantFrom("ts", "python", "rust", "sh", "html", "diff", "nope", "constructor", "");
  fc.assert(
    fc.property(code, language, (text, name) => {
      const { pieces } = highlightLine(text, name);
      expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    }),
  );
});
