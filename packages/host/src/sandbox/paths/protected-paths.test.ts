import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { describeEachMechanism, TestClock, temporaryFolder } from "@flint/testkit";
import { test as anywhere, describe, expect } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { launch, newFolder, PATIENT, startServer } from "../testing/fixture.ts";
import { Placeholders } from "./placeholders.ts";
import { ProtectedPaths, Repositories } from "./protected-paths.ts";
import { ReservedNames } from "./reserved-names.ts";

const sandboxes = {
  bubblewrap: new CommandSandbox({ environment: process.env, mechanisms: ["bubblewrap"] }),
  namespaces: new CommandSandbox({ environment: process.env, mechanisms: ["namespaces"] }),
};

/** All files and folders in a folder. */
function everythingIn(root: string): string[] {
  return readdirSync(root, { recursive: true }).map(String).sort();
}

/** Every way to create or replace a name or its content; prints those that work. */
const ATTACK = `
attack() {
  (echo x > "$1") 2>/dev/null && echo "WROTE $1"
  mkdir "$1" 2>/dev/null && echo "MADE $1"
  mkdir -p "$1/deeper" 2>/dev/null && echo "FILLED $1"
  (echo x > "$1/file") 2>/dev/null && echo "FILLED $1"
  mv "$1" moved 2>/dev/null && echo "MOVED $1"
  # What cannot be moved is copied first.
  rm -rf moved
  mv -T source "$1" 2>/dev/null && echo "RENAMED $1"
  mv -T folder "$1" 2>/dev/null && echo "RENAMED $1"
  mv --exchange source "$1" 2>/dev/null && echo "EXCHANGED $1"
  rmdir "$1" 2>/dev/null && echo "REMOVED $1"
  rm -rf "$1" 2>/dev/null && echo "REMOVED $1"
  ln -sT folder "$1" 2>/dev/null && echo "LINKED $1"
  ln -T source "$1" 2>/dev/null && echo "LINKED $1"
  chmod 777 "$1" 2>/dev/null && echo "CHANGED $1"
  mount --bind folder "$1" 2>/dev/null && echo "MOUNTED $1"
  umount "$1" 2>/dev/null && echo "UNMOUNTED $1"
  return 0
}
echo x > source; mkdir folder
`;

describeEachMechanism("protected names with %s", (name, test) => {
  const sandbox = sandboxes[name];

  test("cannot be created if they are missing, and their placeholders are removed [P32]", async () => {
    const [workspace, listed] = [newFolder(), newFolder(tmpdir())];
    const environment = { ...process.env, HOME: workspace };
    const atHome = new CommandSandbox({ environment, mechanisms: [name] });
    const names = new ReservedNames([workspace]);
    const attacks = [workspace, listed].flatMap((root) =>
      names.in(root).map((missing) => `attack ${join(root, missing)}`),
    );
    const { exitCode, printed } = await launch(atHome, [ATTACK, ...attacks].join("\n"), workspace, {
      ...{ type: "workspaceWrite", writableRoots: [listed] },
    });
    expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: "" });
    expect(everythingIn(workspace)).toEqual(["folder", "source"]);
    expect(everythingIn(listed)).toEqual([]);
  });

  test("that are read only in a home folder, or checked by their readers, are not held elsewhere", async () => {
    const workspace = newFolder();
    const { printed } = await launch(sandbox, "ls -A", workspace);
    const seen = printed.trim().split("\n").sort();
    expect(seen).toEqual([...new ReservedNames().in(workspace)].sort());
    for (const free of [".bashrc", ".ssh", ".gitconfig", ".gitmodules", ".goosehints"])
      expect(seen).not.toContain(free);
    for (const held of [".git", ".mcp.json", ".vscode"]) expect(seen).toContain(held);
  });

  test("cannot be changed, moved or replaced if they exist [P32]", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, ".git", "hooks"), { recursive: true });
    mkdirSync(join(workspace, ".vscode"));
    for (const file of [".mcp.json", ".bashrc"]) writeFileSync(join(workspace, file), "mine");
    const before = everythingIn(workspace);
    const names = [".git", ".git/hooks", ".vscode", ".mcp.json", ".bashrc"];
    const script = [ATTACK, ...names.map((existing) => `attack ${existing}`)].join("\n");
    const { exitCode, printed } = await launch(sandbox, script, workspace);
    expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: "" });
    expect(everythingIn(workspace)).toEqual([...before, "folder", "source"].sort());
    expect(readFileSync(join(workspace, ".mcp.json"), "utf8")).toBe("mine");
  });

  test("cannot be moved together with their folder", async () => {
    const workspace = newFolder();
    const { printed } = await launch(
      sandbox,
      `cd /; mv ${workspace} ${workspace}-2 && echo MOVED`,
      workspace,
    );
    expect(printed).not.toContain("MOVED");
    expect(everythingIn(workspace)).toEqual([]);
  });

  test("include nested repositories and the git folders of worktrees", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, "vendor", "library", ".git", "hooks"), { recursive: true });
    mkdirSync(join(workspace, "a", "b", "c", ".git"), { recursive: true });
    mkdirSync(join(workspace, "stored", "worktrees", "here"), { recursive: true });
    writeFileSync(join(workspace, ".git"), `gitdir: stored/worktrees/here\n`);
    writeFileSync(join(workspace, "stored", "worktrees", "here", "commondir"), "../..\n");
    const script = `(echo x > vendor/library/.git/hooks/a); (echo x > stored/config); mv vendor/library/.git x; (echo x > a/b/c/.git/config); echo y > vendor/library/fine`;
    await launch(sandbox, script, workspace);
    expect(everythingIn(workspace).filter((path) => /hooks\/a|config|^x|fine/.test(path))).toEqual([
      "vendor/library/fine",
    ]);
  });

  test("include the hooks and programs that the settings of the repository name", async () => {
    const workspace = newFolder();
    const git = (...words: string[]) => execFileSync("git", ["-C", workspace, ...words]);
    git("init", "-q");
    git("config", "core.hooksPath", "tools/hooks");
    git("config", "core.fsmonitor", "./watch.sh --quick");
    git("config", "filter.x.clean", "node 'scripts/clean.mjs' %f src");
    git("config", "alias.run", "!sh own.sh");
    for (const folder of ["tools/hooks", "scripts", "src"])
      mkdirSync(join(workspace, folder), { recursive: true });
    const files = ["tools/hooks/pre-commit", "watch.sh", "scripts/clean.mjs"];
    for (const file of [...files, "own.sh"]) writeFileSync(join(workspace, file), "mine");
    const names = ["tools/hooks", "tools", "scripts", ...files];
    const attacks = names
      .map((existing) => `attack ${existing}`)
      .filter((attack) => !/ (?:tools|scripts)$/.test(attack));
    const moves =
      "mv tools t && echo MOVED; mv scripts s && echo MOVED; echo x > tools/hooks/new && echo WROTE";
    const own = "echo x > own.sh; echo x > scripts/other; echo x > src/fine; echo x > tools/fine";
    const { printed } = await launch(
      sandbox,
      [ATTACK, ...attacks, `(${moves}) 2>/dev/null`, own].join("\n"),
      workspace,
    );
    expect(printed).toBe("");
    for (const file of files) expect(readFileSync(join(workspace, file), "utf8")).toBe("mine");
    for (const file of ["own.sh", "scripts/other", "src/fine", "tools/fine"])
      expect(readFileSync(join(workspace, file), "utf8")).toBe("x\n");
  });

  test("include the settings that settings include, named from the folder of the file", async () => {
    const workspace = newFolder();
    const git = (...words: string[]) => execFileSync("git", ["-C", workspace, ...words]);
    git("init", "-q");
    git("config", "include.path", "../shared/settings");
    mkdirSync(join(workspace, "shared"));
    writeFileSync(join(workspace, "shared", "settings"), "[include]\n\tpath = more\n");
    writeFileSync(join(workspace, "shared", "more"), "[user]\n\tname = mine\n");
    const script =
      "printf '[core]\\n\\tfsmonitor = ./planted\\n' > shared/more; mv shared s; echo x > shared/fine; true";
    await launch(sandbox, script, workspace);
    expect(everythingIn(workspace).filter((path) => /^s|fine/.test(path))).toEqual([
      ...["shared", "shared/fine", "shared/more", "shared/settings"],
    ]);
    expect(String(git("config", "user.name"))).toBe("mine\n");
  });

  test("let git read, and fail when it writes", async () => {
    const workspace = newFolder();
    const git = (...words: string[]) => spawnSync("git", ["-C", workspace, ...words], { encoding: "utf8" });
    git("init", "-q");
    git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "first");
    const reading = await launch(sandbox, "echo x > new; git status --short; git log --format=%s", workspace);
    expect({ ...reading, durationMs: 0 }).toEqual({
      exitCode: 0,
      durationMs: 0,
      ended: "exited",
      printed: "?? new\nfirst\n",
    });
    const writing = await launch(sandbox, "git add new", workspace);
    expect(writing.printed).toMatch(/index\.lock.*Read-only file system/);
    expect(git("status", "--short").stdout).toBe("?? new\n");
  });

  test("stay protected until the last of two commands has ended", async () => {
    const workspace = newFolder();
    const script = (own: string, other: string) =>
      `touch ${own}; while [ ! -e ${other} ]; do sleep 0.02; done; mkdir .mcp.json .git && echo MADE; true`;
    const first = launch(sandbox, script("a", "b"), workspace);
    const second = launch(sandboxes[name], script("b", "a"), workspace);
    const results = await Promise.all([first, second]);
    expect(results.map(({ printed }) => printed).join("")).not.toContain("MADE");
    expect(everythingIn(workspace)).toEqual(["a", "b"]);
  });

  test("stay protected for a command of another server", async () => {
    const workspace = newFolder();
    const other = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const waiting = launch(
      other,
      "touch up; while [ ! -e go ]; do sleep 0.02; done; mkdir .mcp.json && echo MADE; true",
      workspace,
    );
    await expect.poll(() => existsSync(join(workspace, "up")), PATIENT).toBe(true);
    for (let round = 0; round < 3; round += 1) await launch(sandbox, "true", workspace);
    expect(existsSync(join(workspace, ".mcp.json"))).toBe(true);
    await launch(sandbox, "touch go", workspace);
    expect((await waiting).printed).not.toContain("MADE");
    expect(everythingIn(workspace)).toEqual(["go", "up"]);
  });

  test("reject a command if one is a link, which could be replaced", async () => {
    const workspace = newFolder();
    mkdirSync(join(workspace, "elsewhere"));
    symlinkSync("elsewhere", join(workspace, ".claude"));
    await expect(launch(sandbox, "touch ran", workspace)).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(/\.claude.*link.*readOnly/s),
    });
    expect(everythingIn(workspace)).toEqual([".claude", "elsewhere"]);
  });

  test("need no protection in a workspace that cannot be written", async () => {
    expect(await launch(sandbox, "touch .git; true", "/proc")).toMatchObject({ exitCode: 0 });
  });
});

anywhere("leaves nothing behind if a name cannot be protected", async () => {
  const root = newFolder();
  symlinkSync("elsewhere", join(root, ".claude"));
  const placeholders = new Placeholders();
  for (let attempt = 0; attempt < 50; attempt += 1) {
    await expect(placeholders.acquire(root)).rejects.toThrow("it is a link");
    expect(readdirSync(root)).toEqual([".claude"]);
  }
});

anywhere("leaves what a user creates in a placeholder while a command runs", async () => {
  const root = newFolder();
  const lease = await new Placeholders().acquire(root);
  writeFileSync(join(root, ".vscode", "settings.json"), "{}");
  rmSync(join(root, ".idea"), { recursive: true });
  writeFileSync(join(root, ".idea"), "mine");
  await lease.release();
  await lease.release();
  expect(everythingIn(root)).toEqual([".idea", ".vscode", ".vscode/settings.json"]);
  expect(lstatSync(join(root, ".vscode")).mode & 0o7777).toBe(0o755);
});

anywhere("protects names in any letter case", async () => {
  const root = newFolder();
  mkdirSync(join(root, ".GIT"));
  const { paths, release } = await new ProtectedPaths(SYSTEM_CLOCK).acquire([root]);
  expect(paths).toContain(join(root, ".GIT"));
  await release();
  expect(everythingIn(root)).toEqual([".GIT"]);
});

anywhere("removes the placeholders of a killed server, at the latest with the next command", async () => {
  const [root, odd] = [newFolder(), join(newFolder(), "a\nb")];
  mkdirSync(odd);
  const source = new URL("./placeholders.ts", import.meta.url).href;
  const code = `
    const { Placeholders } = await import(${JSON.stringify(source)});
    const placeholders = new Placeholders();
    for (const root of ${JSON.stringify([root, odd])}) await placeholders.acquire(root);
    console.log("held");
    setInterval(() => {}, 1000);
  `;
  const server = await startServer(code, "held");
  expect(existsSync(join(root, ".git"))).toBe(true);
  server.kill("SIGKILL");
  await expect.poll(() => readdirSync(root), PATIENT).toEqual([]);
  // The janitor cannot receive a path with a line break.
  expect(readdirSync(odd)).toHaveLength(new ReservedNames().in(odd).length);
  await (await new Placeholders().acquire(odd)).release();
  expect(readdirSync(odd)).toEqual([]);
});

describe("Repositories", () => {
  async function worktree() {
    const { path } = await temporaryFolder();
    for (const name of ["sub", "x", "main"]) mkdirSync(join(path, name));
    writeFileSync(join(path, "sub/.git"), "gitdir: ../x\n");
    const repositories = new Repositories(new TestClock());
    return { path, commondir: join(path, "x/commondir"), found: () => repositories.gitFolders(path) };
  }

  anywhere("finds the git folder of a worktree and its common folder", async () => {
    const { path, commondir, found } = await worktree();
    writeFileSync(commondir, "../main\n");
    expect(await found()).toEqual(["sub/.git", "x", "main"].map((name) => join(path, name)));
  });

  anywhere("does not list a repository that was removed since the last search", async () => {
    const { path, found } = await worktree();
    expect(await found()).toEqual(["sub/.git", "x"].map((name) => join(path, name)));
    rmSync(join(path, "sub"), { recursive: true });
    expect(await found()).toEqual([join(path, "x")]);
  });

  anywhere.each(["a pipe", "a link to a device", "a link to a pipe", "a folder"])(
    "does not block on %s in place of a file",
    async (planted) => {
      const { path, commondir, found } = await worktree();
      const plant = {
        "a pipe": () => execFileSync("mkfifo", [commondir]),
        "a link to a device": () => symlinkSync("/dev/zero", commondir),
        "a link to a pipe": () => {
          execFileSync("mkfifo", [join(path, "pipe")]);
          symlinkSync("../pipe", commondir);
        },
        "a folder": () => mkdirSync(commondir),
      };
      plant[planted as keyof typeof plant]();
      expect(await found()).toEqual(["sub/.git", "x"].map((name) => join(path, name)));
    },
  );
});
