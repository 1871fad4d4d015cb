import { expect, test } from "vitest";
import { canMoveCursor, readLook } from "./look.ts";

const xterm = { TERM: "xterm-256color" };

test.each([
  [{}, true],
  [{ LANG: "de_DE.UTF-8" }, true],
  [{ LANG: "en_US.utf8", LC_ALL: "C" }, false],
  [{ LANG: "C", LC_CTYPE: "C.UTF-8" }, true],
  [{ LC_ALL: "POSIX" }, false],
])("with %j the terminal shows Unicode: %s", (locale, unicode) => {
  expect(readLook({ ...xterm, ...locale }, {}).unicode).toBe(unicode);
});

test.each([
  [xterm, true],
  [{ ...xterm, NO_COLOR: "1" }, false],
  [{ ...xterm, NO_COLOR: "" }, true],
  [{ TERM: "dumb" }, false],
  [{}, false],
])("with %j there are colours: %s", (environment, colour) => {
  expect(readLook(environment, {}).colour).toBe(colour);
});

test("a terminal that does not know its size is taken to have the usual one", () => {
  expect(readLook(xterm, { columns: 0, rows: 0 })).toMatchObject({ columns: 80, rows: 24 });
  expect(readLook(xterm, { columns: 20, rows: 10 })).toMatchObject({ columns: 20, rows: 10 });
});

test("only a terminal that can write over itself gets a live screen", () => {
  expect([canMoveCursor(xterm), canMoveCursor({ TERM: "dumb" }), canMoveCursor({})]).toEqual([
    true,
    false,
    false,
  ]);
});
