import { mkdirSync, symlinkSync } from "node:fs";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { testSpec } from "../testing/spec.ts";
import { ceilingViolation, type WorkerCeiling } from "./ceiling.ts";

const CEILING: WorkerCeiling = {
  ...{ folders: ["/repo"], merge: ["none", "branch"], network: false, allowTools: false },
};

const beyond = (change: Parameters<typeof testSpec>[0], more: Partial<WorkerCeiling> = {}) =>
  ceilingViolation(testSpec(change), { ...CEILING, ...more });

describe("the ceiling of a worker", () => {
  test.each([
    ["a folder beside the allowed one", { cwd: "/repository" }, "work in /repository"],
    ["a folder above the allowed one", { cwd: "/repo/../etc" }, "work in /repo/../etc"],
    ["another way to merge", { merge: "squash" }, "merge by squash"],
    ["hosts", { network: "all" }, "allow hosts"],
    ["to accept approvals", { allow: "tools" }, "accept every approval"],
  ] as const)("does not let a task have %s", (_what, change, problem) => {
    expect(beyond(change)).toContain(problem);
  });

  test("does not let a task open private addresses, even where it may allow hosts", () => {
    const network = (...hosts: string[]) => beyond({ network: { hosts } }, { network: true });
    expect(network("git.corp.example:443")).toBeUndefined();
    expect(network("a.example", "git.corp.example=10.1.2.3")).toContain("reach git.corp.example=10.1.2.3");
  });

  test("does not let a task follow a link out of its folders", async () => {
    const { join } = await temporaryFolder();
    for (const name of ["repo/app", "other/app"]) mkdirSync(join(name), { recursive: true });
    symlinkSync(join("other"), join("repo/link"));
    symlinkSync(join("repo"), join("alias"));
    const folders = [join("alias")];
    expect(beyond({ cwd: join("repo/app") }, { folders })).toBeUndefined();
    for (const cwd of [join("repo/link/app"), `${join("repo")}/link/../other`])
      expect(beyond({ cwd }, { folders })).toContain(`work in ${cwd}`);
  });

  test("lets a task have what is within it", () => {
    expect(beyond({ cwd: "/repo/packages/a" })).toBeUndefined();
    expect(beyond({ budget: { seconds: 60, costUsd: 1 } }, { seconds: 60, costUsd: 1 })).toBeUndefined();
  });

  test("limits time and cost, also of a task that does not limit its own cost", () => {
    expect(beyond({ budget: { seconds: 61 } }, { seconds: 60 })).toContain("work for 61 s");
    expect(beyond({ budget: { seconds: 60 } }, { costUsd: 1 })).toBe("cost more than $1");
    const loose = { seconds: 60, costUsd: 1, enforcement: "bestEffort" } as const;
    expect(beyond({ budget: loose }, { costUsd: 1 })).toBe("run with a cost limit that need not hold");
  });

  describe("of remotes", () => {
    const beyondRemote = (url: string, more: Partial<WorkerCeiling> = {}, cwd = "/repo/app") =>
      ceilingViolation(testSpec({ cwd, remote: { url } }), { ...CEILING, ...more }, [
        "git@git.example:team/app.git",
      ]);

    test("lets a task use those that its folder has", () => {
      expect(beyondRemote("git@git.example:team/app")).toBeUndefined();
      expect(beyondRemote("git@git.example:team/other")).toBe(
        "use the remote git@git.example:team/other: it is none of /repo/app. Allow it with --remote git@git.example:team/other",
      );
    });

    test.each([
      ["https://git.example/team", "https://git.example/team/app.git"],
      ["https://git.example/team/", "https://git.example/team/app"],
      ["git@git.example:", "git@git.example:team/other"],
      ["/srv/git", "/srv/git/app.git"],
      ["https://git.example/team/app.git", "https://git.example/team/app"],
    ])("allows with --remote %s a task to use %s", (above, url) => {
      expect(beyondRemote(url)).toContain("use the remote");
      expect(beyondRemote(url, { remotes: [above] })).toBeUndefined();
    });

    test.each([
      ["https://git.example/team", "https://git.example/teams/app"],
      ["https://git.example/team", "https://git.example/team/../other"],
      ["https://git.example/team", "https://git.example/team/%2e%2E/other"],
      ["https://git.example", "https://git.example.evil/app"],
      ["https://git.example", "https://git.example:443@evil/app"],
      ["https://git.example", "http://git.example/app"],
      ["/srv/git", "/srv/git/../other.git"],
    ])("does not allow with --remote %s a task to use %s", (above, url) => {
      expect(beyondRemote(url, { remotes: [above] })).toContain("use the remote");
    });

    test.each([
      ...["ext::sh -c id", "ext::id", "fd::7", "--upload-pack=id", "-oProxyCommand=id:x", "origin", "../app"],
      ...["ssh://-oProxyCommand=id/x", "ssh://git@-oProxyCommand=id/x", "foo://host/x", "https://a/b\nc"],
    ])("never lets a task use %j, which is no address", (url) => {
      expect(beyondRemote(url, { remotes: [url, ""] })).toContain("it is not the address of one");
      expect(beyondRemote(url, {}, "/elsewhere")).toContain("it is not the address of one");
    });

    test("lets a task of another machine use only those that it has a clone for", () => {
      const url = "https://git.example/team/app";
      const projects = [{ url: `${url}.git`, folder: "/srv/app" }];
      expect(beyondRemote(url, { remotes: [url] }, "/elsewhere")).toContain("it has no clone");
      expect(beyondRemote(url, { projects }, "/elsewhere")).toBeUndefined();
    });
  });

  describe("of agents", () => {
    const agents = ["claude", "codex"];

    test("applies to every role", () => {
      expect(beyond({}, { agents })).toBeUndefined();
      expect(beyond({}, { agents: ["claude"] })).toBe("use the agent codex; allowed are claude");
      expect(beyond({ executors: [{ model: "claude/opus" }, { model: "gemini" }] }, { agents })).toContain(
        "use the agent gemini",
      );
    });

    test("applies to a role that names no model: it gets the default one", () => {
      const unnamed = { executors: [{}] };
      expect(beyond(unnamed, { agents, defaultModel: "codex/gpt" })).toBeUndefined();
      expect(beyond(unnamed, { agents, defaultModel: "gemini/pro" })).toContain("use the agent gemini");
      expect(beyond(unnamed, { agents })).toBe("use any agent; allowed are claude, codex");
      expect(beyond({ reviewers: [{}] }, { agents })).toContain("use any agent");
      expect(beyond(unnamed)).toBeUndefined();
    });
  });
});
