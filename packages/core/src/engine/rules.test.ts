import { realpathSync, rmSync, symlinkSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Decision, isKnownItem, type Rule } from "@flint/protocol";
import {
  MemoryRules,
  type Script,
  ScriptedDriver,
  type TestClient,
  type TestEngineOptions,
  temporaryFolder,
  testEngine,
  UnreliableStore,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** The nth approval that was requested from a client. */
async function asked(client: TestClient, place = 0) {
  await client.waitFor("approval/requested", () => client.eventsOf("approval/requested").length > place);
  const event = client.eventsOf("approval/requested")[place];
  if (event === undefined) throw new Error("no approval was requested");
  return event.data.approval;
}

type Answer = { readonly scope: Decision["scope"]; readonly takes?: "suggestion" };

/**
 * Returns the commands of a script that are asked about when the first answer is this one and all others are
 * no.
 */
async function askedAfter({ scope, takes }: Answer, script: Script, options: TestEngineOptions = {}) {
  const engine = testEngine({ cwd: "/repo", scripts: [script], ...options });
  const client = engine.connect();
  const threadId = await client.startThread();
  const ended = client.turnEnd(await client.startTurn(threadId, "go")).then(() => true);
  const subjects: string[] = [];
  for (let place = 0; !(await Promise.race([ended, asked(client, place).then(() => false)])); place += 1) {
    const { id, action, suggestions } = await asked(client, place);
    subjects.push(action.kind === "command" ? `${action.cwd}$ ${action.command}` : action.kind);
    const rule = takes === undefined ? undefined : suggestions?.[0]?.id;
    const yes = { outcome: "allow", scope, ...(rule === undefined ? {} : { rule }) } as const;
    const decision = place === 0 ? yes : ({ outcome: "deny" } as const);
    await client.call("approval/respond", { threadId, approvalId: id, decision });
  }
  return { subjects, client, threadId, engine };
}

const COMMANDS: Script = [
  { command: "npm test" },
  { command: "npm test -- --watch" },
  { command: "npm test; rm -r ." },
  { command: "npm run test" },
  { approve: { kind: "command", itemId: "x", command: "npm test", cwd: "/repo/inner" } },
];
const ALL_BUT_TESTS = ["/repo$ npm test; rm -r .", "/repo$ npm run test", "/repo/inner$ npm test"];

describe("an approval of a simple command", () => {
  test("offers its prefix as a rule for this project and agent", async () => {
    const engine = testEngine({ cwd: "/repo", scripts: [[{ command: "npm test -- --x" }]] });
    const client = engine.connect();
    await client.startTurn(await client.startThread(), "go");
    const { suggestions } = await asked(client);
    const prefix = { tool: "command", match: { type: "prefix", words: ["npm", "test"] } };
    const words = "run commands that begin with: npm test";
    const shared = { id: expect.any(String), project: "/repo" };
    expect(suggestions).toEqual([
      { ...shared, agent: "scripted", ...prefix, words, scopes: ["session", "always"] },
      {
        ...{ ...shared, tool: "command", scopes: ["always"], words: "run: npm test -- --x (in /repo)" },
        match: { type: "exact", command: "npm test -- --x", cwd: "/repo" },
      },
      { ...shared, ...prefix, words, scopes: ["always"] },
    ]);
  });

  test.each<Script>([
    [{ command: "bash -c 'npm test'" }],
    [{ command: "npm test && x" }],
    [{ fileChange: [{ path: "/repo/a", kind: "add", diff: "" }] }],
    [{ tool: "fetch" }],
    [{ approve: { kind: "command", itemId: "x", command: "npm test", cwd: "/elsewhere" } }],
  ])("offers no prefix for anything else: %j", async (step) => {
    const client = testEngine({ cwd: "/repo", scripts: [[step]] }).connect();
    await client.startTurn(await client.startThread(), "go");
    const { suggestions = [] } = await asked(client);
    expect(suggestions.filter(({ match }) => match.type === "prefix")).toEqual([]);
  });

  test("with a suggestion accepted for the session covers commands with that prefix, and nothing else", async () => {
    const { subjects, engine } = await askedAfter({ scope: "session", takes: "suggestion" }, COMMANDS);
    expect(subjects).toEqual(["/repo$ npm test", ...ALL_BUT_TESTS]);
    expect(engine.rules.list()).toEqual([]);
  });

  test("without a suggestion covers exactly the same command", async () => {
    const { subjects } = await askedAfter({ scope: "session" }, COMMANDS);
    expect(subjects).toEqual(["/repo$ npm test", "/repo$ npm test -- --watch", ...ALL_BUT_TESTS]);
  });

  test("with an always-accepted suggestion covers other threads, but no other project or agent", async () => {
    const rules = new MemoryRules();
    const always = { scope: "always", takes: "suggestion" } as const;
    const { subjects } = await askedAfter(always, COMMANDS, { rules });
    expect(subjects).toEqual(["/repo$ npm test", ...ALL_BUT_TESTS]);
    const once = { scope: "once" } as const;
    expect((await askedAfter(once, COMMANDS, { rules })).subjects).toEqual(ALL_BUT_TESTS);
    const test: Script = [{ command: "npm test" }];
    for (const cwd of ["/other", "/repo/inner", "/repo/", "/"]) {
      expect((await askedAfter(once, test, { rules, cwd })).subjects).toEqual([`${cwd}$ npm test`]);
    }
    const driver = new ScriptedDriver({ id: "another", scripts: [test] });
    expect((await askedAfter(once, test, { rules, driver })).subjects).toEqual(["/repo$ npm test"]);
  });

  test("is asked about again in another folder at the same path, and the first request says why", async () => {
    const rules = new MemoryRules();
    const always = { scope: "always", takes: "suggestion" } as const;
    await askedAfter(always, [{ command: "npm test" }], { rules });
    rules.replaceFolder("/repo");
    const script: Script = [{ command: "npm test" }, { command: "npm test -- --x" }, { command: "make" }];
    const { client } = await askedAfter({ scope: "once" }, script, { rules });
    const reasons = client.eventsOf("approval/requested").map(({ data }) => data.approval.action.reason);
    const usual = "The command is not known to be read-only.";
    const note =
      "A rule for this was made in another folder that was at /repo before, so it does not apply here.";
    expect(reasons).toEqual([`${note} ${usual}`, usual, usual]);
  });

  test("with a host is declined in another folder at the same path if approvals are off, and says why", async () => {
    const rules = new MemoryRules();
    const needs = { network: { hosts: ["registry.example"] } };
    const action = { kind: "command", itemId: "x", command: "npm ci", cwd: "/repo", needs } as const;
    await askedAfter({ scope: "always" }, [{ approve: action }], { rules });
    rules.replaceFolder("/repo");
    const engine = testEngine({ cwd: "/repo", scripts: [[{ approve: action }]], rules });
    const client = engine.connect();
    const threadId = await client.startThread({ approvalPolicy: "never" });
    const { declined } = await client.runTurn(threadId, "go");
    expect(declined).toMatchObject([
      { reason: expect.stringMatching(/^A rule for this .* at \/repo before.* Approvals are off/) },
    ]);
  });

  test("accepted for the session still applies when the thread is loaded again, but not in another folder", async () => {
    const store = new UnreliableStore();
    const answer = { scope: "session", takes: "suggestion" } as const;
    const { threadId, engine } = await askedAfter(answer, [{ command: "npm test" }], { store });
    await engine.close();
    const later = testEngine({
      cwd: "/repo",
      store,
      scripts: [[{ command: "npm test -- --x" }], [{ command: "npm test" }]],
    });
    const client = later.connect();
    await client.runTurn(threadId, "again");
    expect(client.eventsOf("approval/requested")).toEqual([]);
    await client.startTurn(threadId, "elsewhere", { cwd: "/elsewhere" });
    expect((await asked(client)).action).toMatchObject({ command: "npm test", cwd: "/elsewhere" });
  });

  test("rejects a rule that it does not offer, stays open, and accepts the next answer", async () => {
    const engine = testEngine({ cwd: "/repo", scripts: [[{ command: "npm test" }]] });
    const client = engine.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    const { id: approvalId } = await asked(client);
    const invented = { outcome: "allow", scope: "always", rule: "everything" } as const;
    await expect(
      client.call("approval/respond", { threadId, approvalId, decision: invented }),
    ).rejects.toMatchObject({ kind: "invalidParams", data: { field: "decision.rule" } });
    expect(engine.rules.list()).toEqual([]);
    await client.call("approval/respond", {
      threadId,
      approvalId,
      decision: { ...invented, outcome: "deny" },
    });
    expect((await client.turnEnd(turnId)).items.at(-1)).toMatchObject({ status: "declined" });
  });
});

describe("rules", () => {
  const rule = (id: string, project: string): Rule => ({
    ...{ id, project, agent: "scripted", tool: "command", grantedAt: 5, scope: "always", words: "run: make" },
    match: { type: "exact", command: "make", cwd: project },
  });

  test("are listed, for all projects or for one, and removed", async () => {
    const rules = new MemoryRules();
    rules.add(rule("a", "/repo"));
    rules.add(rule("b", "/repo/inner"));
    const client = testEngine({ cwd: "/repo", rules }).connect();
    expect((await client.call("rules/list", {})).data).toEqual([
      rule("a", "/repo"),
      rule("b", "/repo/inner"),
    ]);
    expect((await client.call("rules/list", { cwd: "/repo" })).data).toEqual([rule("a", "/repo")]);
    expect(await client.call("rules/remove", { id: "a" })).toEqual({});
    expect((await client.call("rules/list", {})).data).toEqual([rule("b", "/repo/inner")]);
    await expect(client.call("rules/remove", { id: "a" })).rejects.toMatchObject({
      kind: "invalidParams",
      message: "There is no rule a; it may have been removed already. rules/list lists them.",
    });
  });

  test("made by an answer with scope always state what was allowed, one for each file", async () => {
    const changes = [
      { path: "/repo/a", kind: "modify", diff: "" },
      { path: "/repo/b", kind: "modify", diff: "", movePath: "/repo/c" },
    ] as const;
    const { engine } = await askedAfter({ scope: "always" }, [{ fileChange: changes }]);
    const made1 = engine.rules
      .list()
      .map(({ project, agent, tool, match }) => ({ project, agent, tool, match }));
    const ofFile = (path: string) => ({
      ...{ project: "/repo", agent: "scripted", tool: "fileChange" },
      match: { type: "exact", path },
    });
    expect(made1).toEqual(["/repo/a", "/repo/b", "/repo/c"].map(ofFile));
    expect(engine.rules.list()[0]?.grantedAt).toBe(engine.clock.now());
  });

  test("that were removed no longer apply, also in the thread that made them", async () => {
    const rules = new MemoryRules();
    const { client, threadId, engine } = await askedAfter({ scope: "always" }, [{ command: "make" }], {
      rules,
    });
    for (const { id } of rules.list()) await client.call("rules/remove", { id });
    engine.driver.enqueue([{ command: "make" }]);
    await client.startTurn(threadId, "again");
    expect((await asked(client, 1)).action).toMatchObject({ command: "make" });
  });

  test("for tool calls cover one tool of one server with the same arguments", async () => {
    const call = (server: string, tool: string, words: string) => ({
      approve: { kind: "tool", itemId: "x", server, tool, arguments: { words } } as const,
    });
    const script: Script = [
      call("docs", "search", "a"),
      call("docs", "search", "a"),
      call("docs", "search", "b"),
      call("other", "search", "a"),
      call("docs", "delete", "a"),
    ];
    expect((await askedAfter({ scope: "always" }, script)).subjects).toHaveLength(4);
  });
});

describe("hidden characters", () => {
  const hidden = "ls \u202egpj.exe";

  test("are asked about every time, with a warning beside the agent's own reason", async () => {
    const script: Script = [{ command: hidden, reason: "To look." }, { command: hidden }];
    const { subjects, client } = await askedAfter({ scope: "always" }, script);
    expect(subjects).toEqual([`/repo$ ${hidden}`, `/repo$ ${hidden}`]);
    const reasons = client.eventsOf("approval/requested").map(({ data }) => data.approval.action.reason);
    expect(reasons).toEqual([
      "It contains characters that cannot be seen. To look.",
      "It contains characters that cannot be seen.",
    ]);
    expect(await asked(client)).toMatchObject({ action: { command: hidden } });
  });

  test("are asked about in file names too", async () => {
    const script: Script = [{ fileChange: [{ path: "/repo/a\u200b.ts", kind: "add", diff: "" }] }];
    const { client } = await askedAfter({ scope: "once" }, script);
    expect((await asked(client)).action.reason).toBe("It contains characters that cannot be seen.");
  });
});

describe("an answer belongs to one approval", () => {
  test("and a late one for an earlier approval does not apply to the next", async () => {
    const engine = testEngine({
      cwd: "/repo",
      scripts: [[{ command: "make clean" }, { command: "rm -r /" }]],
    });
    const client = engine.connect();
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    const first = await asked(client);
    const allow = { outcome: "allow" } as const;
    await client.call("approval/respond", { threadId, approvalId: first.id, decision: allow });
    const second = await asked(client, 1);
    expect(second.id).not.toBe(first.id);
    await expect(
      client.call("approval/respond", { threadId, approvalId: first.id, decision: allow }),
    ).rejects.toMatchObject({ kind: "approvalNotFound" });
    expect((await client.call("thread/attach", { threadId })).approvals).toEqual([second]);
    await client.call("approval/respond", { threadId, approvalId: second.id, decision: { outcome: "deny" } });
    const { items } = await client.turnEnd(turnId);
    expect(items.at(-1)).toMatchObject({ command: "rm -r /", status: "declined" });
    const resolved = client.eventsOf("approval/resolved").map(({ data }) => [data.approvalId, data.itemId]);
    expect(resolved).toEqual([
      [first.id, first.action.itemId],
      [second.id, second.action.itemId],
    ]);
  });
});

describe("a rule made in a folder that is reached by a link", () => {
  const script: Script = [{ command: "npm test" }, { command: "make all" }];

  test.each<Answer>([{ scope: "always", takes: "suggestion" }, { scope: "always" }])(
    "applies where the link led then, and not where it leads later: %j",
    async (answer) => {
      const { path } = await temporaryFolder();
      const [link, first, second] = ["link", "first", "second"].map((name) => join(path, name));
      if (link === undefined || first === undefined || second === undefined) throw new Error("No names.");
      await Promise.all([mkdir(first), mkdir(second)]);
      symlinkSync(first, link);
      const options = { cwd: link, rules: new MemoryRules(), realPath: (at: string) => realpathSync(at) };
      await askedAfter(answer, [{ command: "npm test" }], options);
      const no: Answer = { scope: "once" };
      expect((await askedAfter(no, script, options)).subjects).toEqual([`${link}$ make all`]);
      const { client } = await askedAfter(no, [], options);
      const { data } = await client.call("rules/list", { cwd: link });
      expect(data.map(({ match }) => match.type)).toEqual([answer.takes === undefined ? "exact" : "prefix"]);
      rmSync(link);
      symlinkSync(second, link);
      expect((await askedAfter(no, script, options)).subjects).toEqual([
        `${link}$ npm test`,
        `${link}$ make all`,
      ]);
      expect((await client.call("rules/list", { cwd: link })).data).toEqual([]);
    },
  );
});

test("a command shows the answer that allowed it, and the next one the grant", async () => {
  const script: Script = [{ command: "npm test" }, { command: "npm test" }, { command: "ls" }];
  const { client } = await askedAfter({ scope: "session" }, script);
  const allowed = client
    .eventsOf("item/completed")
    .flatMap(({ data: { item } }) =>
      isKnownItem(item) && item.type === "commandExecution" ? [item.allowed] : [],
    );
  expect(allowed).toEqual([
    { by: "client", reason: "The user allowed it for this thread." },
    { by: "grant", reason: "You allowed it for this thread: run: npm test (in /repo)." },
    { by: "setting", reason: "The command is known to be read-only." },
  ]);
});
