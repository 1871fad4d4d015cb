import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { UserConfig } from "./user-config.ts";

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
  test("says nothing when it does not exist", async () => {
    const { config } = await configWith();
    expect((await config.read()).entries()).toEqual([]);
  });

  test("is made with its folder, for its user alone", async () => {
    const { config, text } = await configWith();
    await config.set(["budget", "turn", "tokens"], 5000);
    expect(await text()).toBe("[budget.turn]\ntokens = 5000\n");
    expect((await stat(config.path)).mode & 0o777).toBe(0o600);
  });

  test("keeps comments and order when a key is changed, added or taken out", async () => {
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

  test("refuses a value that the key does not take, and stays as it was", async () => {
    const { config, text } = await configWith('model = "a"\n');
    await expect(config.set(["sandbox"], "open")).rejects.toThrow("sandbox must be");
    await expect(config.set(["modle"], "x")).rejects.toThrow('Did you mean "model"?');
    expect(await text()).toBe('model = "a"\n');
  });

  test("refuses to change what is written in a way it does not know, instead of writing it twice", async () => {
    const inline = "budget = { turn = { tokens = 1 } }\n";
    const { config, text } = await configWith(inline);
    await expect(config.set(["budget", "turn", "tokens"], 2)).rejects.toThrow("by hand");
    expect(await text()).toBe(inline);
  });

  test("that cannot be read is an error, not an empty one", async () => {
    const { path: folder } = await temporaryFolder();
    await chmod(folder, 0o700);
    await expect(new UserConfig(folder).read()).rejects.toThrow("EISDIR");
  });
});
