import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { GitCommand } from "../git/git-command.ts";
import { CommandSandbox } from "../sandbox/index.ts";
import { openPullRequest, type PullRequest } from "./pull-request.ts";
import { setUpRepository } from "./testing/worktree-fixture.ts";

const run = promisify(execFile);

describe("a pull request", () => {
  const request = { branch: "flint/port-it", target: "main", title: "Port it", body: "Please" };

  /** A repository with a remote, a branch to offer, and a sandbox that finds only these programs. */
  async function withRemote(programs: Readonly<Record<string, string>> = {}, name = "remote.git") {
    const setup = await setUpRepository();
    const bin = setup.home.join("bin");
    await mkdir(bin);
    for (const [program, script] of Object.entries(programs))
      await writeFile(join(bin, program), `#!/bin/sh\n${script}`, { mode: 0o755 });
    const remote = setup.home.join(name);
    await run("git", ["clone", "-q", "--bare", setup.cwd, remote]);
    await setup.git("remote", "add", "origin", remote);
    await setup.git("branch", "flint/port-it");
    const open = (more: Partial<PullRequest> = {}, first = bin) => {
      const environment = { ...process.env, PATH: `${first}:/usr/bin:/bin` };
      const sandbox = new CommandSandbox({ environment });
      const asked = { ...request, ...more, folder: setup.cwd };
      return openPullRequest(new GitCommand(setup.cwd, environment), sandbox, asked);
    };
    const called = () => readFile(join(setup.cwd, "called"), "utf8");
    return { ...setup, open, called, remote };
  }

  test("is opened by the user's own gh, after the branch was pushed", async () => {
    const gh = 'echo "$@" > called\necho https://example.org/pull/7\n';
    const { open, called, remote } = await withRemote({ gh });
    expect(await open()).toBe("https://example.org/pull/7");
    expect(await called()).toBe("pr create --head flint/port-it --base main --title Port it --body Please\n");
    const pushed = await run("git", ["-C", remote, "branch", "--list", "flint/*"]);
    expect(pushed.stdout).toContain("flint/port-it");
  });

  test("is opened by glab if the remote is at GitLab", async () => {
    const glab =
      'echo "$@" > called\necho "!7 Port it"\necho " https://gitlab.example.org/x/-/merge_requests/7"\n';
    const { open, called } = await withRemote({ glab }, "gitlab.git");
    expect(await open()).toBe("https://gitlab.example.org/x/-/merge_requests/7");
    expect(await called()).toBe(
      "mr create --yes --source-branch flint/port-it --target-branch main --title Port it --description Please\n",
    );
  });

  const OTHER = "0".repeat(40);
  const LISTS = {
    gh: (state: string, commit: string) => [{ url: "https://example.org/7", state, headRefOid: commit }],
    glab: (state: string, commit: string) => [{ web_url: "https://example.org/7", state, sha: commit }],
  };
  const OPENED = "https://example.org/8";

  for (const program of ["gh", "glab"] as const)
    test(`that ${program} has opened already is not opened again`, async () => {
      const fake = `[ "$2" = list ] && exec cat listed\necho ${OPENED}\n`;
      const { cwd, git, open } = await withRemote(
        { [program]: fake },
        program === "glab" ? "gitlab.git" : "remote.git",
      );
      const repeats = await git("rev-parse", "flint/port-it");
      const after = async (state: string, commit: string) => {
        await writeFile(join(cwd, "listed"), JSON.stringify(LISTS[program](state, commit)));
        return open({ repeats });
      };
      expect(await after("OPEN", OTHER)).toBe("https://example.org/7");
      expect(await after("opened", repeats)).toBe("https://example.org/7");
      expect(await after("MERGED", repeats)).toBe("https://example.org/7");
      // An old request of a branch with the same name is another one.
      expect(await after("closed", OTHER)).toBe(OPENED);
      await writeFile(join(cwd, "listed"), "[]");
      expect(await open({ repeats })).toBe(OPENED);
    });

  test("is not opened by a gh that lies in the project", async () => {
    const { cwd, open } = await withRemote();
    const planted = '#!/bin/sh\necho "$@" > called\n';
    await mkdir(join(cwd, "bin"));
    await writeFile(join(cwd, "bin/gh"), planted, { mode: 0o755 });
    await expect(open({}, join(cwd, "bin"))).rejects.toThrow("gh was not found");
    expect(existsSync(join(cwd, "called"))).toBe(false);
  });

  test("runs nothing that the repository or a remote on this machine names", async () => {
    const gh = "git status > /dev/null\necho https://example.org/pull/7\n";
    const { home, git, open, remote } = await withRemote({ gh });
    const mark = (name: string) => `touch ${home.join(`ran-${name}`)}`;
    await git("config", "core.fsmonitor", `${mark("fsmonitor")}; false`);
    await git("config", "remote.origin.receivepack", `${mark("receivepack")}; git-receive-pack`);
    await git("config", "push.gpgSign", "true");
    await git("config", "gpg.program", home.join("none"));
    const hook = `#!/bin/sh\n${mark("hook")}\n`;
    await mkdir(join(remote, "hooks"), { recursive: true });
    await writeFile(join(remote, "hooks/pre-receive"), hook, { mode: 0o755 });
    expect(await open()).toBe("https://example.org/pull/7");
    const pushed = await run("git", ["-C", remote, "branch", "--list", "flint/*"]);
    expect(pushed.stdout).toContain("flint/port-it");
    const ran = ["fsmonitor", "receivepack", "hook"].filter((name) => existsSync(home.join(`ran-${name}`)));
    expect(ran).toEqual([]);
  });

  test("is pushed without the proxy command that the repository names", async () => {
    const { home, git, open } = await withRemote({ gh: "exit 0\n" });
    const proxy = home.join("proxy");
    await writeFile(proxy, `#!/bin/sh\ntouch ${home.join("ran")}\n`, { mode: 0o755 });
    await git("config", "core.gitProxy", proxy);
    await git("remote", "set-url", "origin", "git://127.0.0.1:1/x.git");
    await expect(open()).rejects.toThrow("could not be pushed to origin");
    expect(existsSync(home.join("ran"))).toBe(false);
  });

  test("needs gh, and says how to get on without it", async () => {
    const { open } = await withRemote();
    await expect(open()).rejects.toThrow(/gh was not found. Install gh and log in with: gh auth login/);
  });

  test("that gh refuses fails with its words", async () => {
    const gh = '[ "$1" = --version ] && exit 0\necho "you are not logged in" >&2\nexit 4\n';
    const { open } = await withRemote({ gh });
    await expect(open()).rejects.toThrow("gh says: you are not logged in");
  });
});
