import { mkdir, symlink, writeFile } from "node:fs/promises";
import type { PolicyRules } from "@flint/core/ports";
import type { Action, Permission } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { parsePolicy, readPolicyFile } from "./policy-file.ts";

const command = (text: string): Action => ({ kind: "command", itemId: "i", command: text, cwd: "/repo" });
const change = (...paths: string[]): Action => ({
  ...{ kind: "fileChange", itemId: "i" },
  changes: paths.map((path) => ({ path, kind: "modify", diff: "" })),
});
const tool = (name: string, server?: string): Action => ({
  ...{ kind: "tool", itemId: "i", tool: name },
  ...(server === undefined ? {} : { server }),
});

function decisionsOf(rules: PolicyRules, actions: readonly Action[], cwd = "/repo", agent = "flint") {
  return actions.map((action) => rules.judge(action, agent, cwd)?.decision);
}

async function problemsOf(text: string): Promise<string[]> {
  return parsePolicy(text, "ci.toml", ["flint", "claude", "codex"]).then(
    () => [],
    (error: Error) => error.message.split("\n"),
  );
}

describe("a policy file", () => {
  test("decides by prefix, exact command, path and tool, and leaves the rest undecided", async () => {
    const rules = await parsePolicy(
      `
unanswered = "decline"

[[rule]]
decision = "allow"
prefix = ["npm", "test"]
match = ["npm test", "npm test -- --x"]
not_match = ["npm tests", "npm run test", "npm test && x"]

[[rule]]
decision = "allow"
command = "npm ci && npm run build"

[[rule]]
decision = "allow"
path = "src/**"
match = ["src/a.ts", "src/a/b.ts"]
not_match = ["package.json"]

[[rule]]
decision = "ask"
tool = "docs/*"

[[rule]]
decision = "deny"
tool = "web_search"
`,
      "ci.toml",
    );
    expect([rules.unanswered, rules.source]).toEqual(["decline", "ci.toml"]);
    const actions = [
      ...[
        command("npm test -- --x"),
        command("npm ci && npm run build"),
        change("/repo/src/a.ts", "src/b.ts"),
      ],
      ...[tool("search", "docs"), tool("web_search"), command("npm run test"), command("npm test; x")],
      ...[change("/repo/src/a.ts", "/repo/package.json"), change("/src/a.ts"), change(), tool("other")],
    ];
    expect(decisionsOf(rules, actions)).toEqual([
      ...["allow", "allow", "allow", "ask", "deny"],
      ...Array(6).fill(undefined),
    ]);
  });

  test("names the deciding rule and its line", async () => {
    const rules = await parsePolicy('\n[[rule]]\ndecision = "deny"\nprefix = ["git", "push"]\n', "ci.toml");
    expect(rules.judge(command("git push origin main"), "flint", "/repo")).toEqual({
      decision: "deny",
      reason: "Rule 1 of ci.toml (line 2) denies it.",
    });
    expect(rules.unanswered).toBe("ask");
  });

  test("applies the strictest matching rule in any order", async () => {
    const rule = (decision: string, pattern: string) => `[[rule]]\ndecision = "${decision}"\n${pattern}\n`;
    const all = [
      rule("allow", 'prefix = ["git"]'),
      rule("ask", 'prefix = ["git", "push"]'),
      rule("deny", 'prefix = ["git", "push", "--force"]'),
      rule("allow", 'path = "**"'),
      rule("deny", 'path = "**/.env"'),
    ];
    for (const text of [all, all.toReversed()]) {
      const rules = await parsePolicy(text.join(""), "p");
      const actions = [command("git status"), command("git push"), command("git push --force")];
      expect(decisionsOf(rules, [...actions, change("a"), change("a", "b/.env")])).toEqual([
        ...["allow", "ask", "deny"],
        ...["allow", "deny"],
      ]);
    }
  });

  test("applies a rule with an agent to that agent only", async () => {
    const rules = await parsePolicy('[[rule]]\ndecision = "allow"\ntool = "shell"\nagent = "claude"', "p");
    expect(rules.judge(command("x; y"), "claude", "/repo")?.decision).toBe("allow");
    expect(rules.judge(command("x; y"), "flint", "/repo")).toBeUndefined();
  });

  test("matches all commands by the tool shell, and all file changes by the tool edit", async () => {
    const text = '[[rule]]\ndecision = "deny"\ntool = "edit"\n[[rule]]\ndecision = "ask"\ntool = "shell"\n';
    const rules = await parsePolicy(text, "p");
    const actions = [change("src/a", "/etc/passwd"), command("ls; x"), tool("edit"), tool("shell", "docs")];
    expect(decisionsOf(rules, actions)).toEqual(["deny", "ask", undefined, undefined]);
  });

  test("asks about a command that cannot be compared with a deny rule", async () => {
    const deny = '[[rule]]\ndecision = "deny"\nprefix = ["git", "push"]\n';
    const allow = '[[rule]]\ndecision = "allow"\ntool = "shell"\n';
    const exactly = '[[rule]]\ndecision = "allow"\ncommand = "npm ci && npm test"\n';
    const unclear = [
      ...["cd a && git push", "git -C a push", "sh -c 'git push'", "env git push", "sudo git push"],
      ...["git $(echo push)", "g'i't pu\"sh\" > x", "xargs git push"],
    ].map(command);
    const asking = await parsePolicy(`${deny}${allow}${exactly}`, "p");
    expect(new Set(decisionsOf(asking, unclear))).toEqual(new Set(["ask"]));
    const declining = await parsePolicy(`unanswered = "decline"\n${deny}${allow}${exactly}`, "p");
    expect(new Set(decisionsOf(declining, unclear))).toEqual(new Set(["deny"]));
    const clear = [command("/usr/bin/git push"), command("ls -a"), command("npm ci && npm test")];
    expect(decisionsOf(asking, clear)).toEqual(["deny", "allow", "allow"]);
  });

  test("resolves links: an allowed path cannot lead outside, a denied one cannot be hidden", async () => {
    const folder = await temporaryFolder();
    for (const name of ["work/secrets", "outside", "work/src"]) {
      await mkdir(folder.join(name), { recursive: true });
      await writeFile(folder.join(name, "a"), "x");
    }
    const work = folder.join("work");
    await symlink(folder.join("outside"), folder.join("work", "src", "out"));
    await symlink(folder.join("work", "secrets"), folder.join("work", "src", "hidden"));
    await symlink(folder.join("nowhere"), folder.join("work", "src", "dangling"));
    const text =
      '[[rule]]\ndecision = "allow"\npath = "src/**"\n[[rule]]\ndecision = "deny"\npath = "secrets/**"\n';
    const rules = await parsePolicy(text, "p");
    const paths = ["src/a", "src/new/b", "src/out/a", "src/hidden/a", "src/dangling", "src/../secrets/a"];
    expect(
      decisionsOf(
        rules,
        paths.map((path) => change(path)),
        work,
      ),
    ).toEqual([...["allow", "allow", undefined], ...["deny", undefined, "deny"]]);
    expect(decisionsOf(rules, [change(folder.join("outside", "src", "a"))], work)).toEqual([undefined]);
  });
});

describe("what an action needs beyond the sandbox", () => {
  const needing = (text: string, needs: Permission, more = {}): Action => ({
    ...{ kind: "command", itemId: "i", command: text, cwd: "/w", needs },
    ...more,
  });
  const host = (...hosts: string[]): Permission => ({ network: { hosts } });
  const npm = '[[rule]]\ndecision = "allow"\nprefix = ["npm", "ci"]\n';

  test("is widened by no rule without its field", async () => {
    const rules = await parsePolicy(`${npm}[[rule]]\ndecision = "allow"\ntool = "shell"\n`, "p");
    const actions = [
      needing("npm ci", host("a.example")),
      needing("npm ci", host("a.example:443"), { running: true }),
      needing("npm ci", { write: ["/cache"] }),
      needing("npm ci", { unconfined: true }),
    ];
    expect(decisionsOf(rules, actions)).toEqual(actions.map(() => undefined));
  });

  test("is allowed part by part, to the commands that a rule names", async () => {
    const text = `${npm}network = ["*.example.org"]\nwrite = ["/no/such/cache"]\n[[rule]]\ndecision = "allow"\nnetwork = ["b.example"]\n`;
    const rules = await parsePolicy(text, "p");
    const both = { ...host("a.example.org"), write: ["/no/such/cache/npm"] };
    expect(
      decisionsOf(rules, [
        needing("npm ci", both),
        needing("npm ci", host("a.example.org", "b.example")),
        needing("npm ci", host("a.example.org:443"), { running: true }),
        needing("curl x", host("b.example:443"), { running: true }),
        needing("curl x", host("b.example")),
        needing("npm ci && curl x", host("a.example.org:443"), { running: true }),
        needing("npm ci", host("c.example")),
        needing("npm ci", { network: "all" }),
      ]),
    ).toEqual(["allow", "allow", "allow", "allow", undefined, undefined, undefined, undefined]);
  });

  test("is denied by a host in a deny rule, whatever allows it", async () => {
    const text = `${npm}network = ["evil.example"]\n[[rule]]\ndecision = "deny"\nnetwork = ["evil.example"]\n`;
    const rules = await parsePolicy(text, "p");
    expect(rules.deniedHosts).toEqual(["evil.example"]);
    expect(
      decisionsOf(rules, [
        needing("npm ci", host("evil.example:8080")),
        needing("npm ci", { network: "all" }),
        needing("npm ci", host("evil.example:443"), { running: true }),
        command("npm ci"),
      ]),
    ).toEqual(["deny", "deny", "deny", "allow"]);
  });

  test("may be a host that the rule names with its addresses, which apply to whatever else may connect", async () => {
    const rule = `${npm}network = ["git.corp.example:443=10.1.2.3", "a.example"]\n`;
    const rules = await parsePolicy(rule, "p");
    expect(rules.addressRules).toEqual(["git.corp.example:443=10.1.2.3"]);
    const needs = host("git.corp.example:443");
    const actions = [
      needing("npm ci", needs, { running: true }),
      needing("curl x", needs, { running: true }),
    ];
    expect(decisionsOf(rules, actions)).toEqual(["allow", undefined]);
    const denied = '[[rule]]\ndecision = "deny"\nnetwork = ["git.corp.example=10.1.2.3"]\n';
    await expect(parsePolicy(denied, "p")).rejects.toThrow("denied at every address");
  });

  test("runs only one exact command line without a sandbox", async () => {
    const text = '[[rule]]\ndecision = "allow"\ncommand = "docker ps"\nunconfined = true\n';
    const rules = await parsePolicy(text, "p");
    const free = { unconfined: true } as const;
    expect(decisionsOf(rules, [needing("docker ps", free), needing("docker ps ", free)])).toEqual([
      "allow",
      undefined,
    ]);
  });

  test("is applying commits", async () => {
    const commits: Action = { kind: "tool", itemId: "i", tool: "git", needs: { git: true } };
    const git = (line: string) => parsePolicy(`[[rule]]\n${line}\n`, "p");
    expect(decisionsOf(await git('decision = "allow"\ngit = "auto"'), [commits])).toEqual(["allow"]);
    expect(decisionsOf(await git('decision = "deny"\ngit = "off"'), [commits])).toEqual(["deny"]);
  });
});

describe("a policy file with a mistake is rejected", () => {
  test.each([
    [
      "an unknown key",
      'unanswerd = "ask"',
      'ci.toml line 1: unknown key "unanswerd". Did you mean "unanswered"?',
    ],
    [
      "an unknown answer",
      'unanswered = "allow"',
      'ci.toml line 1: unanswered must be "decline" or "ask", not "allow".',
    ],
    [
      "a single table of rules",
      '[rule]\ndecision = "ask"',
      "ci.toml line 1: rules must be tables; start each with [[rule]].",
    ],
    [
      "a rule without decision",
      '[[rule]]\ntool = "x"',
      'ci.toml line 1: rule 1: decision is missing; it must be one of "allow", "ask", "deny".',
    ],
    [
      "an unknown decision",
      '[[rule]]\ndecision = "alow"\ntool = "x"',
      'ci.toml line 2: rule 1: decision must be one of "allow", "ask", "deny", not "alow". Did you mean "allow"?',
    ],
    [
      "an unknown field",
      '[[rule]]\ndecision = "ask"\ntool = "x"\n[[rule]]\ndecision = "ask"\nprefx = ["a"]\ntool = "y"',
      'ci.toml line 6: rule 2: unknown field "prefx". Did you mean "prefix"?',
    ],
    [
      "a rule that matches nothing",
      '[[rule]]\ndecision = "ask"',
      "ci.toml line 1: rule 1: it matches nothing: add a prefix, a command, a path, a tool, or a network.",
    ],
    [
      "a rule that a stricter one covers",
      '[[rule]]\ndecision = "deny"\nprefix = ["git"]\n[[rule]]\ndecision = "allow"\nprefix = ["git", "push"]',
      "ci.toml line 4: rule 2: it has no effect: rule 1 (deny) matches everything that it matches, and the strictest rule wins. Remove it, or narrow rule 1.",
    ],
    [
      "an exact command that all of a tool covers",
      '[[rule]]\ndecision = "allow"\ncommand = "npm test"\n[[rule]]\ndecision = "ask"\ntool = "shell"',
      "ci.toml line 1: rule 1: it has no effect: rule 2 (ask) matches everything that it matches, and the strictest rule wins. Remove it, or narrow rule 2.",
    ],
    [
      "two patterns",
      '[[rule]]\ndecision = "ask"\nprefix = ["a"]\npath = "a"',
      "ci.toml line 4: rule 1: prefix and path cannot be in one rule; use two rules.",
    ],
    [
      "a path for another tool",
      '[[rule]]\ndecision = "ask"\ntool = "fetch"\npath = "a"',
      'ci.toml line 3: rule 1: path works only with tool = "edit", not "fetch".',
    ],
    [
      "the protocol's name of a tool",
      '[[rule]]\ndecision = "deny"\ntool = "fileChange"',
      'ci.toml line 3: rule 1: unknown tool "fileChange". Did you mean "edit"?',
    ],
    [
      "a misspelled tool",
      '[[rule]]\ndecision = "deny"\ntool = "shel"',
      'ci.toml line 3: rule 1: unknown tool "shel". Did you mean "shell"?',
    ],
    [
      "an agent's own name of a tool",
      '[[rule]]\ndecision = "deny"\ntool = "Bash"',
      'ci.toml line 3: rule 1: unknown tool "Bash". Did you mean "shell"?',
    ],
    [
      "Claude's name of an MCP tool",
      '[[rule]]\ndecision = "deny"\ntool = "mcp__docs__read_page"',
      'ci.toml line 3: rule 1: unknown tool "mcp__docs__read_page". Did you mean "docs/read_page"?',
    ],
    [
      "a misspelled agent",
      '[[rule]]\ndecision = "deny"\ntool = "shell"\nagent = "cladue"',
      'ci.toml line 4: rule 1: unknown agent "cladue". Did you mean "claude"?',
    ],
    [
      "a prefix with shell syntax",
      '[[rule]]\ndecision = "deny"\nprefix = ["git", "push", "&&"]',
      'ci.toml line 3: rule 1: prefix is compared with the words of a single command, so "&&" never matches. Write one rule for each command, or use command for the exact command line.',
    ],
    [
      "several words in one string",
      '[[rule]]\ndecision = "ask"\nprefix = ["npm test"]',
      'ci.toml line 3: rule 1: prefix must be a list of single words: ["npm","test"], not ["npm test"].',
    ],
    [
      "a prefix that is a string",
      '[[rule]]\ndecision = "ask"\nprefix = "npm test"',
      'ci.toml line 3: rule 1: prefix must be a list of strings, not "npm test".',
    ],
    [
      "an empty prefix",
      '[[rule]]\ndecision = "ask"\nprefix = []',
      "ci.toml line 3: rule 1: prefix needs at least one word.",
    ],
    [
      "a path outside the workspace",
      '[[rule]]\ndecision = "allow"\npath = "../x"',
      'ci.toml line 3: rule 1: path must be relative to the workspace, such as "src/**", and inside it, not "../x".',
    ],
    [
      "** beside a name",
      '[[rule]]\ndecision = "allow"\npath = "src/**.ts"',
      'ci.toml line 3: rule 1: ** must be a whole path segment: "src/**/*.ts", not "src/**.ts".',
    ],
    [
      "a prefix that would allow everything",
      '[[rule]]\ndecision = "allow"\nprefix = ["sudo", "npm"]',
      'ci.toml line 3: rule 1: sudo runs any command it is given, so this would allow everything. Allow the exact command, or use tool = "shell" to allow everything.',
    ],
    [
      "a host rule for everything",
      '[[rule]]\ndecision = "allow"\nprefix = ["npm", "ci"]\nnetwork = ["*"]',
      'ci.toml line 4: rule 1: network: "*" is not a host rule: it stands for every host; --network all allows any host.',
    ],
    [
      "every host for every command",
      '[[rule]]\ndecision = "allow"\nnetwork = "all"',
      'ci.toml line 3: rule 1: network = "all" needs a prefix or a command; --network all opens every host.',
    ],
    [
      "a host that is denied to one command",
      '[[rule]]\ndecision = "deny"\nprefix = ["curl"]\nnetwork = ["a.example"]',
      "ci.toml line 3: rule 1: a denied host applies to every command; leave out prefix.",
    ],
    [
      "a relative folder",
      '[[rule]]\ndecision = "allow"\nprefix = ["npm", "ci"]\nwrite = ["../cache"]',
      'ci.toml line 4: rule 1: write must be absolute folders such as "~/.cache/pip", without "..", not "../cache".',
    ],
    [
      "no sandbox for a prefix",
      '[[rule]]\ndecision = "allow"\nprefix = ["docker"]\nunconfined = true',
      "ci.toml line 4: rule 1: unconfined = true needs command = with the exact command line.",
    ],
    [
      "no sandbox together with a host",
      '[[rule]]\ndecision = "allow"\ncommand = "x"\nunconfined = true\nnetwork = ["a.example"]',
      "ci.toml line 4: rule 1: unconfined and network cannot be in one rule; use two rules.",
    ],
    [
      "a git mode that contradicts its decision",
      '[[rule]]\ndecision = "allow"\ngit = "off"',
      'ci.toml line 3: rule 1: git must be "auto" in a rule with decision = "allow", not "off".',
    ],
    [
      "an example that does not match",
      '[[rule]]\ndecision = "allow"\nprefix = ["npm"]\nmatch = ["npn test"]',
      'ci.toml line 4: rule 1: the rule does not cover "npn test", which match says it does.',
    ],
    [
      "a counterexample that matches",
      '[[rule]]\ndecision = "allow"\npath = "src/**"\nnot_match = ["src/a"]',
      'ci.toml line 4: rule 1: the rule covers "src/a", which not_match says it does not.',
    ],
  ])("with %s", async (_name, text, problem) => {
    expect(await problemsOf(text)).toEqual([problem]);
  });

  test("reports every mistake, and the line of invalid TOML", async () => {
    expect(await problemsOf('a = 1\n[[rule]]\ndecision = 1\nagent = ""\ntool = "x"\n')).toEqual([
      'ci.toml line 1: unknown key "a". Use one of: unanswered, rule.',
      'ci.toml line 3: rule 1: decision must be one of "allow", "ask", "deny", not 1.',
      'ci.toml line 4: rule 1: agent must be a string, not "".',
    ]);
    expect(await problemsOf("\nunanswered = \n")).toEqual([
      expect.stringMatching(/^ci\.toml line [23]: .+\.$/),
    ]);
  });

  test("reports the path of a missing file", async () => {
    await expect(readPolicyFile("/no/such/policy.toml")).rejects.toThrow(
      "The policy file /no/such/policy.toml does not exist. Check the path after --policy.",
    );
  });
});

test("no agent changes the policy file itself, by whatever name and rule", async () => {
  const folder = await temporaryFolder();
  const path = folder.join("ci.toml");
  await writeFile(path, `[[rule]]\ndecision = "allow"\npath = "**"\n`);
  await symlink(path, folder.join("other.toml"));
  const rules = await readPolicyFile(path);
  const actions = [change("ci.toml"), change(path), change("a.ts", "./other.toml"), change("a.ts")];
  expect(decisionsOf(rules, actions, folder.path)).toEqual(["deny", "deny", "deny", "allow"]);
});
