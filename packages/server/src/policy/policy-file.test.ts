import { mkdir, symlink, writeFile } from "node:fs/promises";
import type { PolicyRules } from "@flint/core/ports";
import type { Action } from "@flint/protocol";
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
  return parsePolicy(text, "ci.toml").then(
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
      "ci.toml line 1: rule 1: it matches nothing: add a prefix, a command, a path or a tool.",
    ],
    [
      "two patterns",
      '[[rule]]\ndecision = "ask"\nprefix = ["a"]\npath = "a"',
      "ci.toml line 4: rule 1: prefix and path cannot be in one rule; use two rules.",
    ],
    [
      "a path for another tool",
      '[[rule]]\ndecision = "ask"\ntool = "fetch"\npath = "a"',
      'ci.toml line 3: rule 1: path goes with tool = "edit", not "fetch".',
    ],
    [
      "the protocol's name of a tool",
      '[[rule]]\ndecision = "deny"\ntool = "fileChange"',
      'ci.toml line 3: rule 1: unknown tool "fileChange". Did you mean "edit"?',
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
      "The policy file /no/such/policy.toml cannot be read: ENOENT",
    );
  });
});
