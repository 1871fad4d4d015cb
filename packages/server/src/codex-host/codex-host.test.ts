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

describe("what Codex clients want remembered", () => {
  test("is kept in a private file, and read by the next server", async () => {
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

  test("is not overwritten by somebody who read an older version", async () => {
    const { host } = await setUp();
    const { version } = await host.preferences();
    await host.remember([{ keyPath: "a", value: 1 }], version);
    await expect(host.remember([{ keyPath: "a", value: 2 }], version)).rejects.toThrow(/somebody else/);
    expect((await host.preferences()).values).toEqual({ a: 1 });
  });

  test("loses nothing when several write at once", async () => {
    const { host } = await setUp();
    const keys = Array.from({ length: 20 }, (_, index) => `key${index}`);
    await Promise.all(keys.map((keyPath) => host.remember([{ keyPath, value: keyPath }], undefined)));
    expect(Object.keys((await host.preferences()).values).sort()).toEqual([...keys].sort());
  });

  test("is bounded, and a damaged file holds nothing", async () => {
    const { host } = await setUp();
    const large = host.remember([{ keyPath: "a", value: "x".repeat(300_000) }], undefined);
    await expect(large).rejects.toThrow(/not kept/);
    await expect(host.remember([{ keyPath: "a\nb", value: 1 }], undefined)).rejects.toThrow(/one line/);
    const { filePath } = await host.remember([{ keyPath: "a", value: 1 }], undefined);
    await writeFile(filePath, "{ half");
    expect((await host.preferences()).values).toEqual({});
  });
});

describe("a file that a Codex client shows", () => {
  test("is read whole", async () => {
    const { workspace, host } = await setUp();
    await writeFile(join(workspace, "a.txt"), "hello");
    expect(Buffer.from(await host.readFile(join(workspace, "a.txt"))).toString()).toBe("hello");
  });

  test("is none of Flint's own, whatever leads there", async () => {
    const { home, workspace, host } = await setUp();
    const { filePath } = await host.remember([{ keyPath: "a", value: 1 }], undefined);
    await symlink(home, join(workspace, "link"));
    await expect(host.readFile(filePath)).rejects.toThrow(/belongs to Flint/);
    await expect(host.readFile(join(workspace, "link", "codex-preferences.json"))).rejects.toThrow(/belongs/);
  });

  test("is none of Flint's own, also if the way to those is a link, but may lie beside them", async () => {
    const { home, workspace } = await setUp();
    await Promise.all([mkdir(home), mkdir(`${home}-of-somebody`)]);
    const led = join(workspace, "led");
    await symlink(home, led);
    for (const folder of [home, `${home}-of-somebody`]) await writeFile(join(folder, "notes"), "text");
    const host = codexHost(led);
    await expect(host.readFile(join(home, "notes"))).rejects.toThrow(/belongs to Flint/);
    expect(String(await host.readFile(`${home}-of-somebody/notes`))).toBe("text");
  });

  test("is none of Flint's own either, if a folder becomes a link while it is read", async () => {
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
    const read = () => host.readFile(join(folder, "notes")).then(String, () => "refused");
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
  ])("%j is refused with a reason", async (path, reason) => {
    const { host } = await setUp();
    await expect(host.readFile(path)).rejects.toThrow(reason);
  });

  test("is none that the kernel makes up, whatever leads there", async () => {
    const { workspace, host } = await setUp();
    await symlink("/proc/self/environ", join(workspace, "notes.txt"));
    for (const path of [
      "/proc/self/environ",
      join(workspace, "notes.txt"),
      "/dev/null",
      "/sys/kernel/notes",
    ]) {
      await expect(host.readFile(path)).rejects.toThrow(/not a file on a disk|ENOENT/);
    }
  });

  test("is given out up to what one message carries, and not beyond", async () => {
    const { workspace, host } = await setUp();
    const path = join(workspace, "large");
    await writeFile(path, "");
    const most = LIMITS.line / 2;
    await truncate(path, most);
    expect(await host.readFile(path)).toHaveLength(most);
    await truncate(path, most + 1);
    await expect(host.readFile(path)).rejects.toThrow(`at most ${most} bytes`);
  });

  test("is neither a folder nor a pipe that nobody writes to", async () => {
    const { workspace, host } = await setUp();
    execFileSync("mkfifo", [join(workspace, "pipe")]);
    await expect(host.readFile(join(workspace, "pipe"))).rejects.toThrow(/is not a file/);
    await expect(host.readFile(workspace)).rejects.toThrow(/is not a file/);
  });
});

describe("looking for a file", () => {
  test("finds it by some letters, best first, without what git ignores", async () => {
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
