import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { gitOverrides, parseGitConfig, steeringGitConfig } from "./git-settings.ts";
import { gitSteering } from "./git-steering.ts";

const HARMLESS = `[core]
	repositoryformatversion = 0
	bare = false
	fsmonitor = true
[remote "origin"]
	url = https://git.example/a.git
	fetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
	remote = origin
	merge = refs/heads/main
[user]
	name = Someone
[commit]
	gpgsign = true
`;

/** Each is a file that makes git run a program, and the name of the setting. */
const STEERING: Readonly<Record<string, string>> = {
  "[core]\nfsmonitor=./evil": "core.fsmonitor",
  "[CORE]\n\tFsMonitor = ./evil": "core.fsmonitor",
  "[core] hooksPath = evil": "core.hookspath",
  "[core]\nsshCommand=evil": "core.sshcommand",
  '[filter "x y"]\nclean = evil': "filter.x y.clean",
  '[diff "pdf"]\n textconv = evil': "diff.pdf.textconv",
  "[diff]\n external = evil": "diff.external",
  '[merge "m"]\n driver = evil': "merge.m.driver",
  "[alias]\n st = !evil": "alias.st",
  "[include]\n path = evil": "include.path",
  '[includeIf "gitdir:~/"]\n path = evil': "includeif.gitdir:~/.path",
  '[credential "https://x"]\n helper = evil': "credential.https://x.helper",
  '[remote "o"]\n url = ext::evil': "remote.o.url",
  '[submodule "s"]\n update = !evil': "submodule.s.update",
  '[protocol "ext"]\n allow = always': "protocol.ext.allow",
  '[hook "x"]\n command = evil': "hook.x.command",
  "[user]\nname = a # comment \\\n[core]\nfsmonitor = evil": "core.fsmonitor",
  "; comment \\\n[core]\nfsmonitor = evil": "core.fsmonitor",
};

describe("the settings of a repository that run programs", () => {
  test("are found in every spelling, and ordinary settings are not among them", () => {
    expect(steeringGitConfig(HARMLESS)).toEqual([]);
    for (const [text, name] of Object.entries(STEERING))
      expect([text, steeringGitConfig(text).map((setting) => setting.name)]).toEqual([text, [name]]);
  });

  test("are read as git reads them", async () => {
    const folder = await temporaryFolder();
    const text = `${HARMLESS}[a "b\\"c"] d = "x # y" z ; end\n[e]\nf = one\\\ntwo\ng\n[h.I] j = 1\n`;
    writeFileSync(folder.join("config"), text);
    const listed = execFileSync("git", ["config", "--file", folder.join("config"), "--list", "-z"], {
      encoding: "utf8",
    });
    const entries = listed.split("\0").filter((entry) => entry !== "");
    expect(parseGitConfig(text)).toEqual(
      entries.map((entry) => {
        const [name = "", ...value] = entry.split("\n");
        return { name, value: value.length === 0 ? "true" : value.join("\n") };
      }),
    );
  });
});

describe("the overrides of a repository's settings", () => {
  test("keep real git from running its programs, and git works on [A3]", async () => {
    const folder = await temporaryFolder();
    const { path: cwd } = folder;
    const run = (args: readonly string[], env: Record<string, string> = {}) =>
      execFileSync("git", ["-c", "user.name=x", "-c", "user.email=x@x", ...args], {
        cwd,
        env: { ...process.env, ...env },
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      });
    const mark = (name: string) => `touch ${folder.join(`ran-${name}`)}; cat`;
    run(["init", "-q", "-b", "main"]);
    writeFileSync(folder.join(".gitattributes"), "*.txt filter=f diff=d\n");
    writeFileSync(folder.join("a.txt"), "a\n");
    run(["add", "."]);
    run(["commit", "-qm", "one"]);
    for (const [name, value] of Object.entries({
      "core.fsmonitor": mark("fsmonitor"),
      "filter.f.clean": mark("clean"),
      "filter.f.smudge": "cat",
      "filter.f.required": "true",
      "diff.d.textconv": mark("textconv"),
      "alias.look": `!${mark("alias")}`,
      "core.hooksPath": "hooks",
    }))
      run(["config", name, value]);
    mkdirSync(folder.join("hooks"));
    writeFileSync(folder.join("hooks/pre-commit"), `#!/bin/sh\ntouch ${folder.join("ran-hook")}\n`, {
      mode: 0o755,
    });
    const steering = await gitSteering(cwd);
    const env = gitOverrides(steering?.settings ?? [], steering?.isComplete);
    writeFileSync(folder.join("a.txt"), "b\n");
    run(["status"], env);
    expect(run(["diff"], env)).toContain("+b");
    run(["commit", "-qam", "two"], env);
    expect(() => run(["look"], env)).toThrow();
    const ran = () =>
      ["fsmonitor", "clean", "textconv", "alias", "hook"].filter((name) =>
        existsSync(folder.join(`ran-${name}`)),
      );
    expect(ran()).toEqual([]);
    expect(steering?.hooks).toBe(folder.join("hooks"));
    // Without them all run, so the test would notice.
    writeFileSync(folder.join("a.txt"), "c\n");
    run(["diff"]);
    run(["commit", "-qam", "three"]);
    expect(ran()).toEqual(["fsmonitor", "clean", "textconv", "hook"]);
  });

  test("make git refuse to run if not all settings could be read", async () => {
    const folder = await temporaryFolder();
    execFileSync("git", ["init", "-q"], { cwd: folder.path });
    execFileSync("git", ["config", "include.path", "../large"], { cwd: folder.path });
    writeFileSync(folder.join("large"), `#${"x".repeat(2 ** 21)}\n[core]\nsshCommand = evil\n`);
    const steering = await gitSteering(folder.path);
    const env = { ...process.env, ...gitOverrides(steering?.settings ?? [], steering?.isComplete) };
    expect(() => execFileSync("git", ["status"], { cwd: folder.path, env, stdio: "pipe" })).toThrow();
  });

  const UNCLEAR = [
    "~root/settings",
    "%(prefix)/settings",
    "/proc/self/cwd/settings",
    "../../proc/settings",
    "missing",
  ];
  for (const path of UNCLEAR)
    test(`make git refuse to run if the repository includes ${path}`, async () => {
      const folder = await temporaryFolder();
      execFileSync("git", ["init", "-q"], { cwd: folder.path });
      expect((await gitSteering(folder.path))?.isComplete).toBe(true);
      execFileSync("git", ["config", "include.path", path], { cwd: folder.path });
      expect((await gitSteering(folder.path))?.isComplete).toBe(false);
    });
});
