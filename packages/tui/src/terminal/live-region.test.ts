import { expect, test } from "vitest";
import { lineOf } from "../draw/line.ts";
import { FakeTerminal } from "../testing/fake-terminal.ts";
import { LiveRegion } from "./live-region.ts";

function regionOn(screen: FakeTerminal, size = { columns: 20 }) {
  const look = () => ({ columns: size.columns, rows: 10, colour: false, unicode: true });
  return new LiveRegion(screen.write, look);
}

const lines = (...texts: string[]) => texts.map((text) => lineOf(text));

test("scrolls final rows up above the live ones", () => {
  const screen = new FakeTerminal();
  const region = regionOn(screen);
  region.draw([], lines("working"));
  region.draw(lines("one", "two"), lines("still working", "second row"));
  region.draw(lines("three"), lines("done soon"));
  expect(screen.rows).toEqual(["one", "two", "three", "done soon"]);
});

test.each(["short", "as wide as the row!!"])(
  "fewer rows than before leave nothing of the others below %j",
  (last) => {
    const screen = new FakeTerminal();
    const region = regionOn(screen);
    region.draw([], lines("one", "two", "three"));
    region.draw([], lines(last));
    expect(screen.rows).toEqual([last]);
  },
);

test("clears the live rows and shows the cursor", () => {
  const screen = new FakeTerminal();
  const region = regionOn(screen);
  region.draw(lines("one"), lines("a long status", "", "日本語 below"));
  expect(screen.cursorShown).toBe(false);
  region.clear();
  expect([screen.rows, screen.cursorShown]).toEqual([["one", ""], true]);
});

test("writes once per change, and not without a change", () => {
  const screen = new FakeTerminal();
  const region = regionOn(screen);
  region.draw(lines("one"), lines("status"));
  region.draw([], lines("status"));
  expect(screen.writes).toBe(1);
  region.clear();
  region.clear();
  expect(screen.writes).toBe(2);
});

test("keeps the last column of a full row", () => {
  const screen = new FakeTerminal();
  const region = regionOn(screen, { columns: 5 });
  region.draw(lines("abcde"), lines("12345"));
  region.draw([], lines("67890"));
  expect(screen.rows).toEqual(["abcde", "67890"]);
});

test("removes live rows that a narrower terminal has wrapped", () => {
  const screen = new FakeTerminal();
  const size = { columns: 20 };
  const region = regionOn(screen, size);
  region.draw(lines("final"), lines("0123456789abcde"));
  // What the terminal itself does to a row that no longer fits: it continues in the next, and so does the cursor.
  size.columns = 10;
  screen.replace(["final", "0123456789", "abcde"]);
  region.clear();
  expect(screen.rows).toEqual(["final", ""]);
});
