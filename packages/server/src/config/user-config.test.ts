import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { ConfigError, parseConfig } from "./parse.ts";
import { sessionKeymap, UserConfig } from "./user-config.ts";

async function configWith(text?: string): Promise<{ config: UserConfig; text: () => Promise<string> }> {
  const { path: folder } = await temporaryFolder();
  const path = join(folder, "flint", "config.toml");
  const config = new UserConfig(path);
  if (text !== undefined) {
    await config.set(["model"], "made/first");
    await writeFile(path, text);
  }
  return { config, text: () => readFile(path, "utf8") };
}

describe("the user's configuration file", () => {
  test("has no values if it does not exist", async () => {
    const { config } = await configWith();
    expect((await config.read()).entries()).toEqual([]);
  });

  test("is created with its folder, readable by its user only", async () => {
    const { config, text } = await configWith();
    await config.set(["budget", "turn", "tokens"], 5000);
    expect(await text()).toBe("[budget.turn]\ntokens = 5000\n");
    expect((await stat(config.path)).mode & 0o777).toBe(0o600);
  });

  test("preserves comments and order when a key is changed, added or removed", async () => {
    const { config, text } = await configWith(
      '# mine\nmodel = "a"\n\n[budget.turn]\ntokens = 1 # few\n\n[web]\nfetch = true\n',
    );
    await config.set(["model"], "b");
    await config.set(["budget", "turn", "steps"], 7);
    await config.set(["sandbox"], "read-only");
    expect(await text()).toBe(
      '# mine\nmodel = "b"\nsandbox = "read-only"\n\n[budget.turn]\ntokens = 1 # few\nsteps = 7\n\n[web]\nfetch = true\n',
    );
    expect(await config.unset(["web", "fetch"])).toBe(true);
    expect(await config.unset(["web", "fetch"])).toBe(false);
    expect((await config.read()).get("web.fetch")).toBeUndefined();
  });

  test("sets the window of a model with dots and a slash in its name, in its table", async () => {
    const { config, text } = await configWith();
    const key = ["models", "codex/gpt-6.1-sol", "context_window"];
    await config.set(key, 1000);
    await config.set(["model"], "a");
    await config.set(key, 2000);
    expect(await text()).toBe('model = "a"\n[models."codex/gpt-6.1-sol"]\ncontext_window = 2000\n');
    expect(await config.unset(key)).toBe(true);
    expect((await config.read()).names("models")).toEqual([]);
  });

  test("rejects an invalid value and stays unchanged", async () => {
    const { config, text } = await configWith('model = "a"\n');
    await expect(config.set(["sandbox"], "open")).rejects.toThrow("sandbox must be");
    await expect(config.set(["modle"], "x")).rejects.toThrow('Did you mean "model"?');
    expect(await text()).toBe('model = "a"\n');
  });

  test("rejects a change of a key in a form that cannot be edited", async () => {
    const inline = "budget = { turn = { tokens = 1 } }\n";
    const { config, text } = await configWith(inline);
    await expect(config.set(["budget", "turn", "tokens"], 2)).rejects.toThrow("by hand");
    expect(await text()).toBe(inline);
  });

  test("rejects if it cannot be read", async () => {
    const { path: folder } = await temporaryFolder();
    await chmod(folder, 0o700);
    await expect(new UserConfig(folder).read()).rejects.toThrow("EISDIR");
  });
});

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
