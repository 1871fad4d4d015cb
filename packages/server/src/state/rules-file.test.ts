import { appendFile, mkdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import type { Rule } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { RulesFile } from "./rules-file.ts";

function rule(id: string, command = id): Rule {
  const match = { type: "exact", command, cwd: "/repo" } as const;
  const words = `run: ${command} (in /repo)`;
  return {
    ...{ id, project: "/repo", agent: "flint", tool: "command", match },
    ...{ scope: "always", words, grantedAt: 1 },
  };
}

const PREFIX: Rule = { ...rule("p"), match: { type: "prefix", words: ["npm", "test"] } };

async function rulesPath(): Promise<string> {
  return (await temporaryFolder()).join("state", "rules.jsonl");
}

/** A rules file with this content. */
async function written(text: string): Promise<string> {
  const path = (await temporaryFolder()).join("rules.jsonl");
  await writeFile(path, text, { mode: 0o644 });
  return path;
}

describe("the rules file", () => {
  test("is read by the next process, in order", async () => {
    const path = await rulesPath();
    const rules = new RulesFile(path);
    expect(rules.list()).toEqual([]);
    rules.add(rule("a"));
    rules.add(PREFIX);
    expect(rules.list()).toEqual([rule("a"), PREFIX]);
    expect(new RulesFile(path).list()).toEqual([rule("a"), PREFIX]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("stores a rule once, also if it is added again", async () => {
    const rules = new RulesFile(await rulesPath());
    rules.add(rule("a", "make"));
    rules.add(rule("b", "make"));
    expect(rules.list()).toEqual([rule("a", "make")]);
  });

  test("forgets a removed rule until it is added again", async () => {
    const path = await rulesPath();
    const rules = new RulesFile(path);
    rules.add(rule("a", "make"));
    rules.add(rule("b", "ls"));
    expect([rules.remove("a"), rules.remove("a"), rules.remove("nothing")]).toEqual([true, false, false]);
    expect(new RulesFile(path).list()).toEqual([rule("b", "ls")]);
    rules.add(rule("c", "make"));
    expect(new RulesFile(path).list()).toEqual([rule("b", "ls"), rule("c", "make")]);
  });

  test("shares added and removed rules with other servers", async () => {
    const path = await rulesPath();
    const [one, other] = [new RulesFile(path), new RulesFile(path)];
    expect(other.list()).toEqual([]);
    one.add(rule("a"));
    expect(other.list()).toEqual([rule("a")]);
    other.add(rule("b"));
    expect(one.list()).toEqual([rule("a"), rule("b")]);
    other.remove("a");
    expect(one.list()).toEqual([rule("b")]);
  });

  test("is not read again while it is unchanged", async () => {
    const path = await rulesPath();
    const rules = new RulesFile(path);
    rules.add(rule("a"));
    expect(rules.list()[0]).toBe(rules.list()[0]);
  });
});

describe("a rule and the folder it was made in", () => {
  /** A project with one stored rule. */
  async function projectWithRule() {
    const folder = await temporaryFolder();
    const project = folder.join("project");
    await mkdir(project);
    const path = folder.join("state", "rules.jsonl");
    const made = (id: string): Rule => ({ ...rule(id, "make"), project });
    new RulesFile(path).add(made("a"));
    return { folder, project, path, made, rules: new RulesFile(path) };
  }

  test("still applies after the folder was edited, or moved away and back", async () => {
    const { folder, project, made, rules } = await projectWithRule();
    await writeFile(`${project}/new.txt`, "new");
    await mkdir(`${project}/.git`);
    await rename(project, folder.join("moved"));
    await rename(folder.join("moved"), project);
    expect(rules.forProject(project)).toEqual({ applying: [made("a")], replaced: [] });
    expect(rules.problems()).toEqual([]);
  });

  test("does not apply to another folder at the same path, and is reported", async () => {
    const { folder, project, made, rules } = await projectWithRule();
    await rename(project, folder.join("moved"));
    await mkdir(project);
    expect(rules.forProject(project)).toEqual({ applying: [], replaced: [made("a")] });
    expect(rules.problems()).toEqual([
      `Rule a does not apply: its folder ${project} was removed or replaced. To remove it: flint rules rm a`,
    ]);
    expect(rules.list()).toEqual([made("a")]);
    expect([rules.remove("a"), rules.problems()]).toEqual([true, []]);
  });

  test("does not apply if the folder was deleted", async () => {
    const { project, made, rules } = await projectWithRule();
    await rm(project, { recursive: true });
    expect(rules.forProject(project)).toEqual({ applying: [], replaced: [made("a")] });
  });

  test("does not apply to a folder with the same inode that was created at another time", async () => {
    const { project, path, made } = await projectWithRule();
    const { ino } = await stat(project);
    const text = await readFile(path, "utf8");
    const changed = text.replace(/"folder":"(\d+)-\d+"/, '"folder":"$1-1"');
    expect(changed).toContain(`"folder":"${ino}-1"`);
    const rules = new RulesFile(await written(changed));
    expect(rules.forProject(project)).toEqual({ applying: [], replaced: [made("a")] });
  });

  test("is replaced by the same rule of the folder that is there now", async () => {
    const { folder, project, path, made, rules } = await projectWithRule();
    await rename(project, folder.join("moved"));
    await mkdir(project);
    rules.add(made("b"));
    rules.add(made("c"));
    expect(new RulesFile(path).list()).toEqual([made("b")]);
    expect(rules.forProject(project)).toEqual({ applying: [made("b")], replaced: [] });
  });

  test("belongs to the path alone if an earlier version stored it", async () => {
    const { folder, project, made } = await projectWithRule();
    const rules = new RulesFile(await written(`${JSON.stringify(made("old"))}\n`));
    await rename(project, folder.join("moved"));
    await mkdir(project);
    expect(rules.forProject(project)).toEqual({ applying: [made("old")], replaced: [] });
  });

  test("allows nothing if the stored identity is malformed", async () => {
    const rules = new RulesFile(await written(`${JSON.stringify({ ...rule("a"), folder: 5 })}\n`));
    expect([rules.list(), rules.problems()]).toEqual([
      [],
      [expect.stringContaining("its folder identity is not a string")],
    ]);
  });
});

describe("a damaged rules file", () => {
  test("ignores invalid lines and applies the valid ones", async () => {
    const path = await rulesPath();
    new RulesFile(path).add(rule("a"));
    const odd = [
      { not: "a rule" },
      { ...rule("b"), match: { type: "prefix", words: ["bash"] } },
      { ...rule("c"), match: { type: "prefix", words: [] } },
      { ...rule("d"), project: undefined },
      { ...rule("../e") },
      {
        ...{ ...rule("f"), tool: "network", match: { type: "any" } },
        permission: { network: { hosts: ["git.corp.example:443=10.1.2.3"] } },
      },
      42,
      null,
      [],
      { removed: 1 },
    ];
    await appendFile(path, odd.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await appendFile(path, JSON.stringify(rule("torn")).slice(0, -5));
    const rules = new RulesFile(path);
    expect(rules.list()).toEqual([rule("a")]);
    expect(rules.problems()).toHaveLength(odd.length);
  });

  test("appends a rule on a new line and becomes private again", async () => {
    const path = await written('{"torn');
    new RulesFile(path).add(rule("a"));
    expect(new RulesFile(path).list()).toEqual([rule("a")]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("is never rewritten", async () => {
    const path = await written('{"torn\n');
    const rules = new RulesFile(path);
    rules.add(rule("a"));
    rules.remove("a");
    expect(await readFile(path, "utf8")).toMatch(/^\{"torn\n/);
  });
});

test("rules of the old format still apply, and can be listed and removed", async () => {
  const keys = [
    "/repo\nflint\ncommand:/repo:npm test\n-- x",
    "/repo\nflint\nfile:/repo/a:b.ts",
    '/repo\nflint\ntool:docs:search:{"words":["a:b"]}',
    "/repo\nflint\ntool::fetch:null",
    // Whose folder is it? Both /else and /else:where could be meant, so it is asked about again.
    "/repo\nflint\ncommand:/else:where:make",
    "nothing",
  ];
  const path = await written(keys.map((key) => `${JSON.stringify(key)}\n`).join("\n"));
  const rules = new RulesFile(path);
  expect(rules.list().map(({ tool, match }) => ({ tool, match }))).toEqual([
    { tool: "command", match: { type: "exact", command: "npm test\n-- x", cwd: "/repo" } },
    { tool: "fileChange", match: { type: "exact", path: "/repo/a:b.ts" } },
    { tool: "search", match: { type: "exact", server: "docs", arguments: { words: ["a:b"] } } },
    { tool: "fetch", match: { type: "exact", arguments: null } },
  ]);
  const [first] = rules.list();
  expect(first).toMatchObject({ project: "/repo", agent: "flint", grantedAt: 0 });
  expect(new RulesFile(path).list()[0]?.id).toBe(first?.id);
  expect(rules.remove(first?.id ?? "")).toBe(true);
  expect(new RulesFile(path).list()).toHaveLength(3);
});

describe("a rule that was edited to allow more", () => {
  const any = { ...rule("x"), tool: "network", match: { type: "any" } };

  test.each<[string, object, string]>([
    ["every host", { ...any, permission: { network: "all" } }, "connecting to any host cannot be"],
    ["the host *", { ...any, permission: { network: { hosts: ["*"] } } }, "stands for every host"],
    ["an address", { ...any, permission: { network: { hosts: ["10.0.0.1"] } } }, "IP address"],
    ["leaving the sandbox", { ...rule("x"), permission: { unconfined: true } }, "leaving the sandbox"],
    ["all edits", { ...rule("x"), tool: "fileChange", match: { type: "edits" } }, "changes to all files"],
    ["a relative path", { ...any, permission: { write: ["../x"] } }, "not a path free of links"],
    ["a path with dots", { ...any, permission: { write: ["/repo/../etc"] } }, "not a path free of links"],
    ["every folder", { ...rule("x"), project: "*" }, "not an absolute path"],
    ["nothing", any, "it allows nothing"],
    ["another scope", { ...rule("x"), scope: "session" }, "scope is not always"],
  ])("to %s is rejected and reported", async (_name, line, problem) => {
    const rules = new RulesFile(await written(`${JSON.stringify(line)}\n`));
    expect(rules.list()).toEqual([]);
    expect(rules.problems()).toEqual([expect.stringContaining(problem)]);
    expect(rules.problems()[0]).toMatch(/rules\.jsonl, line 1: .*; it is ignored\.$/);
  });

  test("is rejected if a folder that it names is a link by now", async () => {
    const folder = await temporaryFolder();
    await symlink("/etc", folder.join("link"));
    const lines = [
      { ...any, permission: { write: [folder.join("link")] } },
      { ...rule("y"), project: folder.join("link") },
    ];
    const path = await written(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const rules = new RulesFile(path);
    expect([rules.list(), rules.problems().length]).toEqual([[], 2]);
  });

  test("is not read through a link", async () => {
    const path = await written(`${JSON.stringify(rule("a"))}\n`);
    await symlink(path, `${path}.link`);
    expect(new RulesFile(`${path}.link`).list()).toEqual([]);
  });
});

test("rules of the second format still apply, with words of their own", async () => {
  const base = { project: "/repo", agent: "flint", createdAt: 5 };
  const lines = [
    { ...base, id: "a", tool: "network", match: { type: "exact", host: "a.example:443" } },
    { ...base, id: "b", tool: "write", match: { type: "exact", write: "/no/such/cache" } },
    { ...base, id: "c", tool: "git", match: { type: "exact" } },
    { ...base, id: "d", tool: "command", match: { type: "prefix", words: ["npm", "test"] } },
    { ...base, id: "e", tool: "network", match: { type: "exact", host: "*" } },
  ];
  const rules = new RulesFile(await written(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
  expect(rules.list().map(({ id, words, grantedAt }) => [id, words, grantedAt])).toEqual([
    ["a", "connect to a.example (port 443), from any command", 5],
    ["b", "write /no/such/cache, from any command", 5],
    ["c", "add its commits to your repository", 5],
    ["d", "run commands that begin with: npm test", 5],
  ]);
  expect(rules.problems()).toHaveLength(1);
});
