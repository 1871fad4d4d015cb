import { type Action, type Grant, grantsMadeBy, type Permission } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import {
  type Actor,
  coveringGrants,
  rejectUnknownRule,
  suggestionsFor,
  withFolderIdentities,
} from "./grants.ts";
import { judge } from "./policy.ts";

const actor: Actor = { project: "/repo", agent: "flint", realPath: (path) => path };
const install: Action = { kind: "command", itemId: "i", command: "npm install", cwd: "/repo" };
const host = (...hosts: string[]): Permission => ({ network: { hosts } });
const edit = (...paths: string[]): Action => ({
  ...{ kind: "fileChange", itemId: "i" },
  changes: paths.map((path) => ({ path, kind: "modify", diff: "" })),
});

/** Returns the grants of an answer for the thread to this action. */
function granted(action: Action, more: Partial<Grant> = {}): Grant[] {
  const approval = { id: "a", turnId: "t", action, project: "/repo", agent: "flint" };
  const asked = { ...approval, requestedAtMs: 0, expiresAtMs: 0 };
  return grantsMadeBy(asked, { outcome: "allow", scope: "session" }, 0).map((grant) => ({
    ...grant,
    ...more,
  }));
}

const covers = (grants: readonly Grant[], action: Action, who: Partial<Actor> = {}, now = 1) =>
  coveringGrants(action, { ...actor, ...who }, grants, now) !== undefined;

describe("a grant of commits", () => {
  const commits = (change: string, more: object = {}): Action => ({
    ...{ kind: "tool", itemId: "i", tool: "git", needs: { git: true } },
    arguments: { refs: [{ name: "refs/heads/main", change }], diff: "", ...more },
  });

  test.each<[string, Action, boolean]>([
    ["others", commits("updated"), true],
    [
      "what is gone at a remote",
      commits("x", { refs: [{ name: "refs/remotes/o/x", change: "deleted" }] }),
      true,
    ],
    ["protected files", commits("updated", { protectedPaths: [".npmrc"] }), false],
    ["a branch that loses commits", commits("forced"), false],
    ["a branch that is deleted", commits("deleted"), false],
  ])("and %s", (_name, action, expected) => {
    expect(covers(granted(commits("created")), action)).toBe(expected);
    expect(covers(granted(action), action)).toBe(expected);
  });
});

describe("a grant of exactly one command with a host", () => {
  const grants = granted({ ...install, needs: host("registry.example") });

  test.each<[string, Action, boolean]>([
    ["itself", { ...install, needs: host("registry.example") }, true],
    ["less of it", { ...install, needs: host("registry.example:443") }, true],
    ["the command alone", install, true],
    ["its connections", { ...install, running: true, needs: host("registry.example:443") }, true],
    ["another port", { ...install, running: true, needs: host("registry.example:22") }, false],
    ["another host", { ...install, needs: host("registry.example", "evil.example") }, false],
    ["every host", { ...install, needs: { network: "all" } }, false],
    ["a path", { ...install, needs: { ...host("registry.example"), write: ["/x"] } }, false],
    ["no sandbox", { ...install, needs: { unconfined: true } }, false],
    ["another command", { ...install, command: "npm install x", needs: host("registry.example") }, false],
    [
      "connections of another command",
      { ...install, command: "curl x", running: true, needs: host("registry.example:443") },
      false,
    ],
    ["another folder", { ...install, cwd: "/repo/a", needs: host("registry.example") }, false],
    [
      "the agent's own connections",
      { kind: "tool", itemId: "i", tool: "network", needs: host("registry.example:443") },
      false,
    ],
  ])("and %s", (_name, action, expected) => {
    expect(covers(grants, action)).toBe(expected);
  });

  test("applies to one agent in one project, or to all agents", () => {
    const action = { ...install, needs: host("registry.example") };
    expect(covers(grants, action, { agent: "claude" })).toBe(false);
    expect(covers(grants, action, { project: "/moved" })).toBe(false);
    const forAll = grants.map(({ agent: _agent, ...grant }) => grant);
    expect(covers(forAll, action, { agent: "claude" })).toBe(true);
  });

  test("ends when it says so", () => {
    const ending = granted(install, { expiresAt: 100 });
    expect([covers(ending, install, {}, 99), covers(ending, install, {}, 100)]).toEqual([true, false]);
  });
});

test("a grant for a connection applies to any command, but allows none to run", () => {
  const grants = granted({ ...install, running: true, needs: host("registry.example:443") });
  const other: Action = { ...install, command: "curl x", running: true, needs: host("registry.example:443") };
  expect([covers(grants, other), covers(grants, install)]).toEqual([true, false]);
  expect(covers(grants, { ...install, needs: host("registry.example:443") })).toBe(false);
});

test("leaving the sandbox allows only leaving the sandbox, with that command", () => {
  const free = { ...install, needs: { unconfined: true as const } };
  const grants = granted(free);
  expect([covers(grants, free), covers(grants, install)]).toEqual([true, false]);
  expect(covers(grants, { ...free, command: "npm install " })).toBe(false);
  expect(covers(granted(install), free)).toBe(false);
});

test("a grant of a file covers any change to that file, as it says, and no other file", () => {
  const grants = granted(edit("/repo/a.ts"));
  expect(grants.map(({ words }) => words)).toEqual(["change the file /repo/a.ts in any way"]);
  expect([covers(grants, edit("/repo/a.ts")), covers(grants, edit("/repo/a.ts", "/repo/b.ts"))]).toEqual([
    true,
    false,
  ]);
});

describe("suggestions", () => {
  const offered = (action: Action) =>
    suggestionsFor(action, actor, 0).map(({ agent = "all", match, scopes }) => [agent, match.type, scopes]);

  test("offer all edits in the workspace for the thread, and nothing of the kind outside", () => {
    expect(offered(edit("/repo/a"))).toEqual([
      ["flint", "edits", ["session"]],
      ["all", "exact", ["always"]],
    ]);
    expect(offered(edit("/repo/a", "/etc/x"))).toEqual([]);
    expect(offered(edit("/repo/.git/config"))).toEqual([["all", "exact", ["always"]]]);
    const [edits] = suggestionsFor(edit("/repo/a"), actor, 0);
    const taken: Grant[] =
      edits === undefined ? [] : [{ ...edits, scope: "session", words: "", grantedAt: 0 }];
    const judged = [edit("/repo/b"), edit("/repo/.envrc"), edit("/etc/x"), install];
    expect(judged.map((action) => covers(taken, action))).toEqual([true, false, false, false]);
  });

  test("offer no prefix for what a command needs, and no rule for leaving the sandbox", () => {
    const test_: Action = { ...install, command: "npm test" };
    expect(offered(test_).map(([, type]) => type)).toEqual(["prefix", "exact", "prefix"]);
    expect(offered({ ...test_, needs: host("a.example") })).toEqual([["all", "exact", ["always"]]]);
    expect(offered({ ...test_, needs: { unconfined: true } })).toEqual([]);
    expect(offered({ ...test_, needs: { network: "all" } })).toEqual([]);
  });

  test("are accepted only for as long as they offer", () => {
    const [edits] = suggestionsFor(edit("/repo/a"), actor, 0);
    const approval = { id: "a", suggestions: edits === undefined ? [] : [edits] };
    const decide = (scope: "session" | "always") => () =>
      rejectUnknownRule({ outcome: "allow", scope, rule: edits?.id }, approval);
    expect(decide("session")).not.toThrow();
    expect(decide("always")).toThrow("for always; it offers it for session.");
  });
});

describe("a decision without anyone to ask", () => {
  const verdict = (needs: Permission, granted_ = false) =>
    judge({ approvalPolicy: "never", action: { ...install, needs }, granted: granted_ });

  test.each<[Permission, string]>([
    [host("registry.example:443"), "--network registry.example."],
    [{ network: "all" }, "--network all."],
    [{ write: ["/cache"] }, "--add-dir /cache."],
    [{ git: true }, "--git auto."],
    [{ unconfined: true }, "this exact command and unconfined = true."],
  ])("about %j names what would allow it", (needs, option) => {
    expect(verdict(needs)).toEqual({ kind: "deny", reason: expect.stringContaining(option) });
  });

  test("allows what was granted or ruled before, but nothing with hidden characters", () => {
    expect(verdict(host("a.example"), true).kind).toBe("allow");
    const hidden = { ...install, command: "npm \u202einstall", needs: host("a.example") };
    expect(judge({ approvalPolicy: "never", action: hidden, granted: true }).kind).toBe("deny");
    const ruleDecision = { decision: "allow", reason: "" } as const;
    const action = { ...install, needs: host("a.example") };
    expect(judge({ approvalPolicy: "never", action, granted: false, ruleDecision }).kind).toBe("allow");
  });

  test("declines hosts in a thread without network, and says how to allow them", () => {
    const action = { ...install, needs: host("a.example") };
    const input = { approvalPolicy: "unlessTrusted", action, granted: false, hasNetwork: false } as const;
    expect(judge(input)).toEqual({ kind: "deny", reason: expect.stringContaining("--network HOST") });
  });
});

describe("a grant to write a folder", () => {
  const inFolder = (identity: string): Partial<Actor> => ({ folderIdentity: () => identity });
  const build = withFolderIdentities({ ...install, needs: { write: ["/srv/out"] } }, () => "7-1");
  const change = withFolderIdentities({ ...edit("/srv/out/a"), needs: { write: ["/srv/out"] } }, () => "7-1");

  test.each([
    ["a command", build, granted(build)],
    ["a change of files", change, granted(change)],
    ["a stopped command", install, granted(build)],
  ])("covers %s as long as the same folder is there", (_, action, grants) => {
    expect(covers(grants, action, inFolder("7-1"))).toBe(true);
    expect(covers(grants, action, inFolder("8-1"))).toBe(false);
    expect(covers(grants, action, { folderIdentity: () => undefined })).toBe(false);
  });

  test("covers no other file in it, and no command", () => {
    const grants = granted(change);
    expect(covers(grants, { ...edit("/srv/out/b"), needs: { write: ["/srv/out"] } })).toBe(false);
    expect(covers(grants, { ...install, needs: { write: ["/srv/out"] } })).toBe(false);
  });
});
