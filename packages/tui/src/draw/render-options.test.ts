import { expect, test } from "vitest";
import { canMoveCursor, followsLinks, readLook } from "./render-options.ts";

const xterm = { TERM: "xterm-256color" };

test.each([
  [{}, true],
  [{ LANG: "de_DE.UTF-8" }, true],
  [{ LANG: "en_US.utf8", LC_ALL: "C" }, false],
  [{ LANG: "C", LC_CTYPE: "C.UTF-8" }, true],
  [{ LC_ALL: "POSIX" }, false],
])("with %j the terminal supports Unicode: %s", (locale, unicode) => {
  expect(readLook({ ...xterm, ...locale }, {}).unicode).toBe(unicode);
});

test.each([
  [xterm, true],
  [{ ...xterm, NO_COLOR: "1" }, false],
  [{ ...xterm, NO_COLOR: "" }, true],
  [{ TERM: "dumb" }, false],
  [{}, false],
])("with %j output has colours: %s", (environment, colour) => {
  expect(readLook(environment, {}).colour).toBe(colour);
});

test("assumes 80 by 24 for a terminal without a size", () => {
  expect(readLook(xterm, { columns: 0, rows: 0 })).toMatchObject({ columns: 80, rows: 24 });
  expect(readLook(xterm, { columns: 20, rows: 10 })).toMatchObject({ columns: 20, rows: 10 });
});

test("needs a terminal that can move the cursor for a live screen", () => {
  expect([canMoveCursor(xterm), canMoveCursor({ TERM: "dumb" }), canMoveCursor({})]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([
  [xterm, false],
  [{ TERM: "xterm-kitty" }, true],
  [{ ...xterm, TERM_PROGRAM: "WezTerm" }, true],
  [{ ...xterm, TERM_PROGRAM: "Apple_Terminal" }, false],
  [{ ...xterm, VTE_VERSION: "7200" }, true],
  [{ ...xterm, VTE_VERSION: "4602" }, false],
  [{ ...xterm, WT_SESSION: "an-id" }, true],
  [{ TERM: "tmux-256color", TMUX: "/tmp/tmux", VTE_VERSION: "7200" }, false],
  [{ ...xterm, STY: "1.screen", VTE_VERSION: "7200" }, false],
  [{ ...xterm, FORCE_HYPERLINK: "1" }, true],
  [{ TERM: "xterm-kitty", FORCE_HYPERLINK: "0" }, false],
  [{ TERM: "dumb", FORCE_HYPERLINK: "1" }, false],
])("in %j the terminal follows links: %s", (environment, follows) => {
  expect(followsLinks(environment)).toBe(follows);
});

test.each([
  ["vscode", true],
  ["iTerm.app", undefined],
  [undefined, undefined],
])("a terminal that calls itself %s is xterm.js: %s", (TERM_PROGRAM, isXtermJs) => {
  expect(readLook({ TERM: "xterm-256color", TERM_PROGRAM }, {}).isXtermJs).toBe(isXtermJs);
});
