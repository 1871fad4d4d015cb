import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newFolder } from "../testing/fixture.ts";
import { resolveWritable } from "./writable-paths.ts";

/** Asks for a folder, which is made if it is in the home folder. */
async function resolved(path: string, home = newFolder(), workspace = newFolder()) {
  if (path.startsWith("~/")) mkdirSync(join(home, path.slice(2)), { recursive: true });
  return resolveWritable({ path, workspace, home }, async () => false);
}

describe("a folder that a command wants to write", () => {
  test.each([
    "~/.npm",
    "~/.npm/_cacache",
    "~/.cache/pip",
    "~/.local/share/demo",
    "~/.m2/repository",
    "~/code/x",
  ])("may be %s", async (path) => {
    const home = newFolder();
    expect(await resolved(path, home)).toEqual({ path: join(home, path.slice(2)) });
  });

  test.each([
    ...["~/.vim", "~/.emacs.d/lisp", "~/.oh-my-zsh", "~/.nvm/versions", "~/.gnupg", "~/.kube", "~/.deno/bin"],
    ...["~/.config", "~/.config/git", "~/.local", "~/.local/bin", "~/.local/share", "~/.cache", "~/.m2"],
    ...["~/.cache/opencode/bin", "~/.local/share/goose", "~/.ssh", "~/.claude/hooks", "~/.gradle"],
    ...["~/code/.vscode", "~/code/.git/hooks", "/etc", "/usr/bin"],
  ])("is never %s", async (path) => {
    expect(await resolved(path)).toMatchObject({ problem: expect.stringContaining("cannot be opened") });
  });

  test("is neither the home folder, nor one around it or around the workspace", async () => {
    const outer = newFolder();
    const [home, workspace] = [join(outer, "home"), join(outer, "work", "project")];
    for (const folder of [home, workspace]) mkdirSync(folder, { recursive: true });
    for (const path of [home, outer, join(outer, "work")])
      expect(await resolved(path, home, workspace)).toMatchObject({ problem: expect.any(String) });
  });

  test("is judged by where its links lead", async () => {
    const home = newFolder();
    mkdirSync(join(home, ".vim"));
    symlinkSync(join(home, ".vim"), join(home, "harmless"));
    expect(await resolved(join(home, "harmless"), home)).toMatchObject({ problem: expect.any(String) });
  });

  test("may be missing, with folders around it, and is judged by where it would be created", async () => {
    const [home, outer] = [newFolder(), newFolder()];
    symlinkSync(outer, join(home, "data"));
    const requested = join(home, "data", "new", "cache");
    expect(await resolved(requested, home)).toEqual({ path: join(outer, "new", "cache") });
    mkdirSync(join(home, ".vim"));
    symlinkSync(join(home, ".vim"), join(home, "harmless"));
    for (const path of ["harmless/new", ".config/new", "new/.vscode/x", "new/.git"])
      expect(await resolved(join(home, path), home)).toMatchObject({
        problem: expect.stringContaining("cannot be opened"),
      });
  });

  test("cannot be created through a link that leads nowhere, below a file, or where the system is", async () => {
    const folder = newFolder();
    symlinkSync(join(folder, "gone"), join(folder, "link"));
    writeFileSync(join(folder, "file"), "");
    expect(await resolved(join(folder, "link", "x"))).toEqual({
      problem: `${join(folder, "link")} is a link that leads nowhere`,
    });
    expect(await resolved(join(folder, "file", "x"))).toMatchObject({
      problem: expect.stringContaining("not a folder"),
    });
    expect(await resolved("/proc/x")).toMatchObject({ problem: expect.any(String) });
  });
});
