import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { SandboxScope } from "@flint/core/ports";
import { needs, temporaryFolder } from "@flint/testkit";
import { describe, expect } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";

const confined = needs("bwrap");
const WORKSPACE_WRITE = { type: "workspaceWrite" } as const;
const SCOPE: SandboxScope = { id: "thread-1", privateGit: true };
const AUTHOR = "git -c user.name=a -c user.email=a@example.org";

async function setUp() {
  const home = await temporaryFolder();
  const workspace = home.join("work");
  await mkdir(workspace);
  const git = async (...args: string[]) =>
    (
      await promisify(execFile)("git", ["-c", "user.name=u", "-c", "user.email=u@example.org", ...args], {
        cwd: workspace,
      })
    ).stdout;
  await git("init", "-q", "-b", "main");
  await writeFile(home.join("work/a.txt"), "one\n");
  await git("add", ".");
  await git("commit", "-qm", "first");
  const sandbox = new CommandSandbox({
    ...{ environment: process.env, mechanisms: ["bubblewrap"], scopeFolder: home.join("state") },
  });
  const run = async (
    script: string,
    options: { scope?: SandboxScope; policy?: "readOnly" } = { scope: SCOPE },
  ) => {
    let output = "";
    const { exitCode } = await sandbox.launch({
      ...{ command: ["sh", "-c", script], cwd: workspace, workspace },
      policy: options.policy === undefined ? WORKSPACE_WRITE : { type: options.policy },
      scope: options.scope,
      onOutput: (text) => {
        output += text;
      },
    });
    return { exitCode, output };
  };
  return { home, git, sandbox, run };
}

describe("a command in a repository", () => {
  confined(
    "commits in a git directory of its thread, and its commits are taken over on request",
    async () => {
      const { git, sandbox, run } = await setUp();
      expect(await run(`echo two >> a.txt; ${AUTHOR} commit -qam two`)).toEqual({ exitCode: 0, output: "" });
      expect((await run("git log --format=%s")).output).toBe("two\nfirst\n");
      expect(await git("log", "--format=%s")).toBe("first\n");
      const offer = await sandbox.commits(SCOPE.id);
      expect(offer?.refs).toMatchObject([{ name: "refs/heads/main", total: 1, commits: [{ title: "two" }] }]);
      expect(await offer?.accept()).toEqual({ notes: [] });
      expect(await git("log", "--format=%s")).toBe("two\nfirst\n");
      expect(await git("status", "--porcelain")).toBe("");
      expect(await sandbox.commits(SCOPE.id)).toBeUndefined();
    },
  );

  confined("sees what the user committed since its last command", async () => {
    const { git, run, home } = await setUp();
    await run("git status");
    await writeFile(home.join("work/b.txt"), "mine\n");
    await git("add", ".");
    await git("commit", "-qm", "mine");
    expect((await run("git log --format=%s; git status --porcelain")).output).toBe("mine\nfirst\n");
  });

  confined("changes nothing of the user's git directory, whatever it writes into its own", async () => {
    const { run, home, git } = await setUp();
    const config = await readFile(home.join("work/.git/config"), "utf8");
    const { exitCode } = await run(
      "git config core.fsmonitor 'touch /tmp/x'; echo ./evil > .git/commondir.x; ls .git/objects",
    );
    expect(exitCode).toBe(0);
    expect(await readFile(home.join("work/.git/config"), "utf8")).toBe(config);
    expect(await git("status", "--porcelain")).toBe("");
  });

  confined(
    "cannot commit in a thread without a git directory of its own, nor under a read-only policy",
    async () => {
      const { run } = await setUp();
      const commit = `${AUTHOR} commit -q --allow-empty -m x`;
      for (const options of [{}, { scope: SCOPE, policy: "readOnly" as const }]) {
        expect(await run(commit, options)).toMatchObject({
          ...{ exitCode: 128, output: expect.stringContaining("Read-only file system") },
        });
      }
    },
  );

  confined("gets a new git directory after its scope was closed", async () => {
    const { run, sandbox } = await setUp();
    await run(`${AUTHOR} commit -q --allow-empty -m lost`);
    await sandbox.closeScope(SCOPE.id);
    expect((await run("git log --format=%s")).output).toBe("first\n");
  });
});
