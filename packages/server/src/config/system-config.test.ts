import { chmod, writeFile } from "node:fs/promises";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { embed } from "../embed.ts";
import { ConfigValues, parseConfig } from "./parse.ts";
import { mergedConfig, readSystemConfig } from "./system-config.ts";

async function systemFile(text: string, mode = 0o644) {
  const folder = await temporaryFolder();
  const path = folder.join("config.toml");
  await writeFile(path, text);
  await chmod(path, mode);
  return { folder, path };
}

describe("the configuration of a machine", () => {
  test("is none without a file", async () => {
    const folder = await temporaryFolder();
    expect(await readSystemConfig(folder.join("config.toml"))).toBeUndefined();
  });

  test("gives values that users can override, and locks those that it names", async () => {
    const { path } = await systemFile(
      'locked = ["sandbox", "allow_unconfined"]\nmodel = "flint/offline"\nsandbox = "workspace-write"\nwritable_roots = ["/srv"]\nallow_unconfined = false\n',
    );
    const system = await readSystemConfig(path);
    expect(system?.locks).toMatchObject({
      source: path,
      sandboxPolicy: { type: "workspaceWrite", writableRoots: ["/srv"] },
    });
    expect(system?.locks?.model).toBeUndefined();
    expect([...(system?.forbidden ?? [])]).toEqual(["allow_unconfined"]);
    const user = await parseConfig('model = "claude"\n', "user.toml", "user");
    const merged = mergedConfig(system?.values ?? new ConfigValues(), user);
    expect([merged.get("model"), merged.get("sandbox")]).toEqual(["claude", "workspace-write"]);
  });

  test.each([
    ["an unknown lock", 'locked = ["sandbx"]', 'locked: "sandbx" cannot be locked. Did you mean "sandbox"?'],
    ["a lock without a value", 'locked = ["git"]', "locked: git has no value in this file"],
    ["a lock that is not a list", "locked = true", "locked must be a list of keys"],
    ["an unknown key", 'sandbx = "read-only"', "unknown key"],
  ])("is rejected with %s", async (_name, text, message) => {
    const { path } = await systemFile(`${text}\n`);
    await expect(readSystemConfig(path)).rejects.toThrow(message);
  });

  test("is rejected if others could write it", async () => {
    const { path } = await systemFile('sandbox = "read-only"\n', 0o666);
    await expect(readSystemConfig(path)).rejects.toThrow(`chmod go-w ${path}`);
  });

  test("binds clients and what they change in a thread", async () => {
    const { folder, path } = await systemFile('locked = ["sandbox"]\nsandbox = "workspace-write"\n');
    const system = await readSystemConfig(path);
    const embedded = await embed({
      root: folder.join("state"),
      cwd: folder.path,
      model: "flint/offline",
      locks: system?.locks,
    });
    try {
      const { client } = embedded;
      const wider = { type: "dangerFullAccess" } as const;
      await expect(client.call("thread/start", { sandbox: wider })).rejects.toThrow(path);
      const { thread } = await client.call("thread/start", {});
      const change = { threadId: thread.id, sandbox: wider };
      await expect(client.call("thread/settings/update", change)).rejects.toThrow(path);
    } finally {
      await embedded.close();
    }
  });
});
