import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { describeEachMechanism, settled, TestClock, temporaryFolder } from "@flint/testkit";
import { test as anywhere, describe, expect, onTestFinished } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { Placeholders } from "./placeholders.ts";
import { PROTECTED_NAMES } from "./protected-names.ts";
import { ProtectedPaths, Repositories } from "./protected-paths.ts";

const sandboxes = {
  bubblewrap: new CommandSandbox({ environment: process.env, mechanisms: ["bubblewrap"] }),
  namespaces: new CommandSandbox({ environment: process.env, mechanisms: ["namespaces"] }),
};

function folder(parent = "/var/tmp"): string {
  const made = mkdtempSync(join(parent, "flint-protected-test-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** What is under a folder, files and folders, without what git keeps. */
function everythingIn(root: string): string[] {
  return readdirSync(root, { recursive: true }).map(String).sort();
}

async function run(sandbox: CommandSandbox, script: string, workspace: string, roots: string[] = []) {
  let printed = "";
  const result = await sandbox.launch({
    command: ["sh", "-c", script],
    cwd: workspace,
    workspace,
    policy: { type: "workspaceWrite", writableRoots: roots },
    onOutput: (text) => {
      printed += text;
    },
  });
  return { ...result, printed };
}

/** Every way to make or replace a name, or what is under it; says so if one works. */
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

describeEachMechanism("names that steer tools, confined by %s", (name, test) => {
  const sandbox = sandboxes[name];

  test("they cannot be made where they are missing, and nothing is left where they were kept [P32]", async () => {
    const [workspace, listed] = [folder(), folder(tmpdir())];
    const attacks = [workspace, listed].flatMap((root) =>
      PROTECTED_NAMES.map((missing) => `attack ${join(root, missing)}`),
    );
    const { exitCode, printed } = await run(sandbox, [ATTACK, ...attacks].join("\n"), workspace, [listed]);
    expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: "" });
    expect(everythingIn(workspace)).toEqual(["folder", "source"]);
    expect(everythingIn(listed)).toEqual([]);
  });

  test("they cannot be changed, moved or replaced where they exist [P32]", async () => {
    const workspace = folder();
    mkdirSync(join(workspace, ".git", "hooks"), { recursive: true });
    mkdirSync(join(workspace, ".vscode"));
    for (const file of [".mcp.json", ".bashrc"]) writeFileSync(join(workspace, file), "mine");
    const before = everythingIn(workspace);
    const names = [".git", ".git/hooks", ".vscode", ".mcp.json", ".bashrc"];
    const script = [ATTACK, ...names.map((existing) => `attack ${existing}`)].join("\n");
    const { exitCode, printed } = await run(sandbox, script, workspace);
    expect({ exitCode, printed }).toEqual({ exitCode: 0, printed: "" });
    expect(everythingIn(workspace)).toEqual([...before, "folder", "source"].sort());
    expect(readFileSync(join(workspace, ".mcp.json"), "utf8")).toBe("mine");
  });

  test("the folder they are in cannot be moved away from under them", async () => {
    const workspace = folder();
    const { printed } = await run(sandbox, `cd /; mv ${workspace} ${workspace}-2 && echo MOVED`, workspace);
    expect(printed).not.toContain("MOVED");
    expect(everythingIn(workspace)).toEqual([]);
  });

  test("repositories in folders below and the folders of worktrees are protected as well", async () => {
    const workspace = folder();
    mkdirSync(join(workspace, "vendor", "library", ".git", "hooks"), { recursive: true });
    mkdirSync(join(workspace, "a", "b", "c", ".git"), { recursive: true });
    mkdirSync(join(workspace, "stored", "worktrees", "here"), { recursive: true });
    writeFileSync(join(workspace, ".git"), `gitdir: stored/worktrees/here\n`);
    writeFileSync(join(workspace, "stored", "worktrees", "here", "commondir"), "../..\n");
    const script = `(echo x > vendor/library/.git/hooks/a); (echo x > stored/config); mv vendor/library/.git x; (echo x > a/b/c/.git/config); echo y > vendor/library/fine`;
    await run(sandbox, script, workspace);
    expect(everythingIn(workspace).filter((path) => /hooks\/a|config|^x|fine/.test(path))).toEqual([
      "vendor/library/fine",
    ]);
  });

  test("git reads as ever, and says that it cannot write", async () => {
    const workspace = folder();
    const git = (...words: string[]) => spawnSync("git", ["-C", workspace, ...words], { encoding: "utf8" });
    git("init", "-q");
    git("-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "first");
    const reading = await run(sandbox, "echo x > new; git status --short; git log --format=%s", workspace);
    expect({ ...reading, durationMs: 0 }).toEqual({
      exitCode: 0,
      durationMs: 0,
      ended: "exited",
      printed: "?? new\nfirst\n",
    });
    const writing = await run(sandbox, "git add new", workspace);
    expect(writing.printed).toMatch(/index\.lock.*Read-only file system/);
    expect(git("status", "--short").stdout).toBe("?? new\n");
  });

  test("two commands at once need them, and they go with the last of the two", async () => {
    const workspace = folder();
    const script = (own: string, other: string) =>
      `touch ${own}; while [ ! -e ${other} ]; do :; done; mkdir .mcp.json .git && echo MADE; true`;
    const first = run(sandbox, script("a", "b"), workspace);
    const second = run(sandboxes[name], script("b", "a"), workspace);
    const results = await Promise.all([first, second]);
    expect(results.map(({ printed }) => printed).join("")).not.toContain("MADE");
    expect(everythingIn(workspace)).toEqual(["a", "b"]);
  });

  test("a command of another server keeps its protection when this one is done", async () => {
    const workspace = folder();
    const other = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const waiting = run(
      other,
      "touch up; while [ ! -e go ]; do :; done; mkdir .mcp.json && echo MADE; true",
      workspace,
    );
    while (!existsSync(join(workspace, "up"))) await settled();
    for (let round = 0; round < 3; round += 1) await run(sandbox, "true", workspace);
    expect(existsSync(join(workspace, ".mcp.json"))).toBe(true);
    await run(sandbox, "touch go", workspace);
    expect((await waiting).printed).not.toContain("MADE");
    expect(everythingIn(workspace)).toEqual(["go", "up"]);
  });

  test("a link under such a name is refused by name, because it could be replaced", async () => {
    const workspace = folder();
    mkdirSync(join(workspace, "elsewhere"));
    symlinkSync("elsewhere", join(workspace, ".claude"));
    await expect(run(sandbox, "touch ran", workspace)).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(/\.claude.*link.*readOnly/s),
    });
    expect(everythingIn(workspace)).toEqual([".claude", "elsewhere"]);
  });

  test("a workspace that cannot be written needs no protection", async () => {
    expect(await run(sandbox, "touch .git; true", "/proc")).toMatchObject({ exitCode: 0 });
  });
});

anywhere("nothing is left behind where a name cannot be kept, however often it is tried", async () => {
  const root = folder();
  symlinkSync("elsewhere", join(root, ".claude"));
  const placeholders = new Placeholders();
  for (let attempt = 0; attempt < 50; attempt += 1) {
    await expect(placeholders.acquire(root)).rejects.toThrow("it is a link");
    expect(readdirSync(root)).toEqual([".claude"]);
  }
});

anywhere("what a user puts under a kept name while a command runs is theirs", async () => {
  const root = folder();
  const hold = await new Placeholders().acquire(root);
  writeFileSync(join(root, ".vscode", "settings.json"), "{}");
  rmSync(join(root, ".idea"), { recursive: true });
  writeFileSync(join(root, ".idea"), "mine");
  await hold.release();
  await hold.release();
  expect(everythingIn(root)).toEqual([".idea", ".vscode", ".vscode/settings.json"]);
  expect(lstatSync(join(root, ".vscode")).mode & 0o7777).toBe(0o755);
});

anywhere("names in another letter case count as well", async () => {
  const root = folder();
  mkdirSync(join(root, ".GIT"));
  const { paths, release } = await new ProtectedPaths(SYSTEM_CLOCK).acquire([root]);
  expect(paths).toContain(join(root, ".GIT"));
  await release();
  expect(everythingIn(root)).toEqual([".GIT"]);
});

anywhere(
  "what a killed server left in place is removed without anybody's help, or by the next command",
  async () => {
    const [root, odd] = [folder(), join(folder(), "a\nb")];
    mkdirSync(odd);
    const source = new URL("./placeholders.ts", import.meta.url).href;
    const code = `
    const { Placeholders } = await import(${JSON.stringify(source)});
    const placeholders = new Placeholders();
    for (const root of ${JSON.stringify([root, odd])}) await placeholders.acquire(root);
    console.log("held");
    setInterval(() => {}, 1000);
  `;
    const flags = ["--conditions=@flint/source", "--import", "tsx", "--input-type=module", "-e", code];
    const server = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void server.kill("SIGKILL"));
    for await (const chunk of server.stdout) if (String(chunk).includes("held")) break;
    expect(existsSync(join(root, ".git"))).toBe(true);
    server.kill("SIGKILL");
    while (existsSync(join(root, ".git"))) await settled();
    while (readdirSync(root).length > 0) await settled();
    // A name of two lines is more than the one who tidies up can be told.
    expect(readdirSync(odd)).toHaveLength(PROTECTED_NAMES.length);
    await (await new Placeholders().acquire(odd)).release();
    expect(readdirSync(odd)).toEqual([]);
  },
);

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
