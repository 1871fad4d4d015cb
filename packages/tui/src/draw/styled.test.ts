import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { span, textOf, textWidth, wrapLine } from "./line.ts";
import { markdownLines } from "./markdown.ts";
import type { RenderOptions } from "./render-options.ts";
import { linkTarget, styled } from "./styled.ts";

const LINKS = { host: "box" };
const LOOK: RenderOptions = { columns: 40, rows: 24, colour: true, unicode: true, links: LINKS };
const OPEN = "\u001b]8;;";
const END = "\u001b\\";
const CLOSE = `${OPEN}${END}`;
/** A link as it must be written: opened once with a safe address, and closed. */
const WRITTEN = new RegExp(`${OPEN.replace("]", "\\]")}(?:https?|file)://[\\x21-\\x7e]*\u001b\\\\`, "g");

/** Sequences of our own. */
const COLOURS = new RegExp(`${"\u001b"}\\[[\\d;]*m`, "g");

describe("a link", () => {
  test.each([
    ["https://example.com/a b?c=d#e", "https://example.com/a%20b?c=d#e"],
    ["http://example.com", "http://example.com/"],
    ["HTTPS://EXAMPLE.com/ü", "https://example.com/%C3%BC"],
    ["/repo/a file#1.ts", "file://box/repo/a%20file%231.ts"],
    ["file:///repo/a.ts", "file://box/repo/a.ts"],
    ["file://box/repo/a.ts", "file://box/repo/a.ts"],
  ])("leads from %s to %s", (address, target) => {
    expect(linkTarget(address, LINKS)).toBe(target);
  });

  test.each([
    "javascript:alert(1)",
    "data:text/html,hi",
    "mailto:me@example.com",
    "ssh://example.com",
    "x-man-page://ls",
    "file://elsewhere/share/a.ts",
    "src/a.ts",
    "",
    "http://",
    `https://example.com/${"a".repeat(3_000)}`,
  ])("does not lead to %j", (address) => {
    expect(linkTarget(address, LINKS)).toBeUndefined();
  });

  test("to a path that begins like a host stays on this machine", () => {
    expect(linkTarget("//elsewhere/share", LINKS)).toBe("file://box/elsewhere/share");
  });

  test("is written around its text and closed on every row that it is wrapped to", () => {
    const line = [
      span("see "),
      { ...span("one two three", "underline"), link: "https://a.b/" },
      span(" end"),
    ];
    const rows = wrapLine(line, 12).map((row) => styled(row, true));
    expect(rows).toEqual([
      `see ${OPEN}https://a.b/${END}\u001b[4mone two\u001b[0m${CLOSE}`,
      `${OPEN}https://a.b/${END}\u001b[4mthree\u001b[0m${CLOSE} end`,
    ]);
    expect(styled(line, false)).toBe("see one two three end");
    const [one, other] = ["https://a.b/", "https://c.d/"].map((link) => ({ ...span("x"), link }));
    expect(styled([one ?? span(""), other ?? span(""), span("y")], true)).toBe(
      `${OPEN}https://a.b/${END}x${CLOSE}${OPEN}https://c.d/${END}x${CLOSE}y`,
    );
  });

  test("is not written if its address could end the sequence", () => {
    const line = [{ ...span("text"), link: "https://a.b/\u001b\\\u001b[2J" }];
    expect(styled(line, true)).toBe("text");
  });

  test("of Markdown has its address beside it, and only where the terminal follows links", () => {
    const [row = []] = markdownLines("[docs](https://a.b/c)", LOOK);
    expect(textOf(row)).toBe("docs (https://a.b/c)");
    expect(row.filter(({ link }) => link === "https://a.b/c").map(({ text }) => text)).toEqual([
      "docs",
      "https://a.b/c",
    ]);
    const [plain = []] = markdownLines("[docs](https://a.b/c)", { ...LOOK, links: undefined });
    expect(styled(plain, true)).not.toContain(OPEN);
  });

  test("of any text never steers the terminal, and is always closed [P36]", () => {
    const bytes = fc.string({
      unit: fc.constantFrom("\u001b", "\u0007", "\u009c", "\\", ";", "/", "a", "%", " "),
    });
    const address = fc.tuple(fc.constantFrom("https://a", "http://", "file:///", "/", ""), bytes);
    fc.assert(
      fc.property(address, bytes, ([scheme, rest], label) => {
        const rows = markdownLines(`[${label}](<${scheme}${rest}>) ${scheme}${rest}`, LOOK);
        const written = rows.map((row) => styled(row, true)).join("\n");
        const opened = written.match(WRITTEN)?.length ?? 0;
        expect(written.split(CLOSE).length - 1).toBe(opened);
        const others = written.replaceAll(WRITTEN, "").replaceAll(CLOSE, "").replaceAll(COLOURS, "");
        expect(others).not.toMatch(/[^\P{Cc}\n]/u);
      }),
      { numRuns: 300 },
    );
  });
});

test("a line writes no control character, with or without colours, and takes the columns it is measured with [P36]", () => {
  const anything = fc.string({
    unit: fc.constantFrom("\u001b", "\u0007", "\u009b", "\r", "\n", "[2J", "a", " "),
  });
  fc.assert(
    fc.property(anything, fc.constantFrom("red" as const, undefined), (text, style) => {
      for (const row of wrapLine([span(text, style)], 20)) {
        expect(styled(row, true).replaceAll(COLOURS, "")).not.toMatch(/\p{Cc}/u);
        expect(styled(row, false)).not.toMatch(/\p{Cc}/u);
        if (!text.includes("\n")) expect(textWidth(textOf(row))).toBe(styled(row, false).length);
      }
    }),
  );
});
