import { execFileSync } from "node:child_process";
import { mkdir, rename, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LIMITS } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { codexHost } from "./codex-host.ts";

async function setUp() {
  const { path } = await temporaryFolder();
  const home = join(path, "home");
  const workspace = join(path, "workspace");
  await mkdir(workspace, { recursive: true });
  return { home, workspace, host: codexHost(home) };
}

describe("preferences of Codex clients", () => {
  test("are stored in a private file and read by the next server", async () => {
    const { home, host } = await setUp();
    expect((await host.preferences()).values).toEqual({});
    const edits = [
      { keyPath: "notice.seen", value: true },
      { keyPath: "tui.theme", value: "dark" },
    ];
    const { version, filePath } = await host.remember(edits, undefined);
    expect((await stat(filePath)).mode & 0o777).toBe(0o600);
    await host.remember([{ keyPath: "tui.theme", value: null }], version);
    expect((await codexHost(home).preferences()).values).toEqual({ "notice.seen": true });
  });

  test("are not overwritten from an older version", async () => {
    const { host } = await setUp();
    const { version } = await host.preferences();
    await host.remember([{ keyPath: "a", value: 1 }], version);
    await expect(host.remember([{ keyPath: "a", value: 2 }], version)).rejects.toThrow(/changed since/);
    expect((await host.preferences()).values).toEqual({ a: 1 });
  });

  test("keep the edits of concurrent writers", async () => {
    const { host } = await setUp();
    const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
    await Promise.all(keys.map((keyPath) => host.remember([{ keyPath, value: keyPath }], undefined)));
    expect(Object.keys((await host.preferences()).values).sort()).toEqual([...keys].sort());
  });

  test("are limited in size, and a damaged file has none", async () => {
    const { host } = await setUp();
    const large = host.remember([{ keyPath: "a", value: "x".repeat(300_000) }], undefined);
    await expect(large).rejects.toThrow(/limited to/);
    await expect(host.remember([{ keyPath: "a\nb", value: 1 }], undefined)).rejects.toThrow(/one line/);
    const { filePath } = await host.remember([{ keyPath: "a", value: 1 }], undefined);
    await writeFile(filePath, "{ half");
    expect((await host.preferences()).values).toEqual({});
  });
});

describe("readFile", () => {
  test("returns the whole file", async () => {
    const { workspace, host } = await setUp();
    await writeFile(join(workspace, "a.txt"), "hello");
    expect(Buffer.from(await host.readFile(join(workspace, "a.txt"))).toString()).toBe("hello");
  });

  test("rejects Flint's own files, also through a link", async () => {
    const { home, workspace, host } = await setUp();
    const { filePath } = await host.remember([{ keyPath: "a", value: 1 }], undefined);
    await symlink(home, join(workspace, "link"));
    await expect(host.readFile(filePath)).rejects.toThrow(/belongs to Flint/);
    await expect(host.readFile(join(workspace, "link", "codex-preferences.json"))).rejects.toThrow(/belongs/);
  });

  test("rejects Flint's own files if its folder is a link, but not files beside it", async () => {
    const { home, workspace } = await setUp();
    await Promise.all([mkdir(home), mkdir(`${home}-of-another-user`)]);
    const led = join(workspace, "led");
    await symlink(home, led);
    for (const folder of [home, `${home}-of-another-user`]) await writeFile(join(folder, "notes"), "text");
    const host = codexHost(led);
    await expect(host.readFile(join(home, "notes"))).rejects.toThrow(/belongs to Flint/);
    expect(String(await host.readFile(`${home}-of-another-user/notes`))).toBe("text");
  });

  test("rejects Flint's own files if a folder becomes a link during the read", async () => {
    const { home, workspace, host } = await setUp();
    await mkdir(home, { recursive: true });
    const [folder, link, aside] = ["folder", "link", "aside"].map((name) => join(workspace, name));
    if (folder === undefined || link === undefined || aside === undefined) throw new Error("Unnamed.");
    await mkdir(folder);
    await writeFile(join(folder, "notes"), "harmless");
    await writeFile(join(home, "notes"), "secret");
    await symlink(home, link);
    let isOver = false;
    const swapping = (async () => {
      while (!isOver) {
        for (const [from, to] of [
          [folder, aside],
          [link, folder],
          [folder, link],
          [aside, folder],
        ] as const)
          await rename(from, to);
      }
    })();
    const read = () => host.readFile(join(folder, "notes")).then(String, () => "rejected");
    const seen = new Set<string>();
    for (let round = 0; round < 50; round += 1) {
      for (const text of await Promise.all(Array.from({ length: 10 }, read))) seen.add(text);
    }
    isOver = true;
    await swapping;
    expect(seen).not.toContain("secret");
  });

  test.each([
    ["relative/path", /without a base path/],
    ["/nowhere/at/all", /No such file/],
    ["/tmp/a\0b", /without a base path/],
  ])("rejects %j with a reason", async (path, reason) => {
    const { host } = await setUp();
    await expect(host.readFile(path)).rejects.toThrow(reason);
  });

  test("rejects files that the kernel generates, also through a link", async () => {
    const { workspace, host } = await setUp();
    await symlink("/proc/self/environ", join(workspace, "notes.txt"));
    for (const path of [
      "/proc/self/environ",
      join(workspace, "notes.txt"),
      "/dev/null",
      "/sys/kernel/notes",
    ]) {
      await expect(host.readFile(path)).rejects.toThrow(/not a file on a disk|Cannot read/);
    }
  });

  test("reads as much as fits in one message, and rejects more", async () => {
    const { workspace, host } = await setUp();
    const path = join(workspace, "large");
    await writeFile(path, "");
    const most = LIMITS.line / 2;
    await truncate(path, most);
    expect(await host.readFile(path)).toHaveLength(most);
    await truncate(path, most + 1);
    await expect(host.readFile(path)).rejects.toThrow(`at most ${most} bytes`);
  });

  test("rejects a folder, and a pipe without a writer", async () => {
    const { workspace, host } = await setUp();
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    await expect(host.readFile(join(workspace, "pipe"))).rejects.toThrow(/is not a file/);
    await expect(host.readFile(workspace)).rejects.toThrow(/is not a file/);
  });
});

describe("findFiles", () => {
  test("finds files by some letters, best match first, without those that git ignores", async () => {
    const { workspace, host } = await setUp();
    await mkdir(join(workspace, "src"));
    await mkdir(join(workspace, "built"));
    await writeFile(join(workspace, ".gitignore"), "built/\n");
    await writeFile(join(workspace, "src", "main-loop.ts"), "");
    await writeFile(join(workspace, "src", "domain.ts"), "");
    await writeFile(join(workspace, "built", "main.js"), "");
    const found = await host.findFiles(
      "main",
      [workspace, join(workspace, "missing")],
      AbortSignal.timeout(60_000),
    );
    expect(found.map(({ path }) => path)).toEqual(["src/main-loop.ts", "src/domain.ts"]);
    expect(found[0]).toMatchObject({
      root: workspace,
      name: "main-loop.ts",
      isFolder: false,
      indices: [4, 5, 6, 7],
    });
    expect(await host.findFiles("  ", [workspace], AbortSignal.timeout(60_000))).toEqual([]);
  });
});
