import { expect, test } from "vitest";
import { ConfigError, parseConfig } from "./parse.ts";
import { sessionKeymap } from "./session-keys.ts";

async function keysOf(text: string) {
  return sessionKeymap(await parseConfig(`[keys]\n${text}\n`, "config.toml", "user")).keys;
}

test("the keys of a command are replaced, one or several, in any spelling", async () => {
  const keys = await keysOf('listThreads = "F2"\nquit = ["Ctrl+Q", "ctrl+x  q"]\nredraw = []');
  expect([keys.listThreads, keys.quit, keys.redraw]).toEqual([["f2"], ["ctrl+q", "ctrl+x q"], []]);
  expect(keys.openPalette).toEqual(["ctrl+p"]);
});

test.each([
  ['listThread = "f2"', 'config.toml line 2: unknown key "keys.listThread". Did you mean "listThreads"?'],
  ['quit = "ctrl+nope"', 'config.toml line 2: keys.quit must be a key such as "f2"'],
  ["quit = 3", 'must be a key such as "f2"'],
  ['showHelp = "ctrl+t"', "keys: ctrl+t is listThreads and showHelp. Choose another key, or []"],
])("%s is rejected with a reason", async (text, message) => {
  await expect(keysOf(text)).rejects.toThrow(ConfigError);
  await expect(keysOf(text)).rejects.toThrow(message);
});

test("a project cannot change keys", async () => {
  const parsed = parseConfig('[keys]\nquit = "f2"\n', "config.toml", "project");
  await expect(parsed).rejects.toThrow("can only be set in your own configuration file");
});
