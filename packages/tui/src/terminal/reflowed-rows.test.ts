import fc from "fast-check";
import { expect, test } from "vitest";
import { XtermTerminal } from "../testing/xterm-terminal.ts";
import { FRAME, up } from "./modes.ts";
import { ReflowedRows } from "./reflowed-rows.ts";

const HEIGHT = 100;
const columns = fc.integer({ min: 10, max: 40 });

interface Screen {
  readonly widths: readonly number[];
  readonly cursorRow: number;
  readonly sizes: readonly number[];
}

const screen: fc.Arbitrary<Screen> = fc
  .record({
    widths: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 }),
    cursorRow: fc.nat({ max: 5 }),
    sizes: fc.array(columns, { maxLength: 3 }),
  })
  .map((each) => ({ ...each, cursorRow: Math.min(each.cursorRow, each.widths.length - 1) }));

/** Rows of which each has another letter, with the cursor in one of them, in a terminal that has these widths in turn. */
async function play({ widths, cursorRow, sizes }: Screen): Promise<{ cursor: number; start: number }> {
  const terminal = new XtermTerminal(40, HEIGHT);
  const rows = widths.map((width, at) => String.fromCharCode(97 + at).repeat(width));
  const toCursor = up(widths.length - 1 - cursorRow);
  terminal.write(`${FRAME.begin}${rows.join("\r\n")}${toCursor}\r${FRAME.end}`);
  await terminal.drawn();
  for (const size of sizes) terminal.resize(size, HEIGHT);
  await terminal.drawn();
  return { cursor: terminal.cursor.row, start: terminal.screen.findIndex((row) => row.startsWith("a")) };
}

function expected({ widths, cursorRow, sizes }: Screen): ReflowedRows {
  const reflowed = new ReflowedRows(widths, 40, cursorRow);
  for (const size of sizes) reflowed.resize(size);
  return reflowed;
}

test("the cursor is where xterm.js moves it, however often the width changes", async () => {
  await fc.assert(
    fc.asyncProperty(screen, async (each) => {
      const { cursor, start } = await play(each);
      expect(expected(each).cursor).toBe(cursor - start);
    }),
    { numRuns: 100 },
  );
});

test("the line of the cursor is wrapped too once a row below it was", async () => {
  const each = { widths: [6, 34, 26, 37], cursorRow: 2, sizes: [24] };
  expect(expected(each).cursor).toBe((await play(each)).cursor);
  expect(expected(each).cursor).toBe(5);
});
