import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ConfigOption, FlintError } from "@flint/protocol";
import { Gate, ScriptedDriver, temporaryFolder, type WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  ask,
  CodexServerUnderTest,
  fields,
  listOf,
  received,
  startThread,
  startTurn,
  turnEnd,
} from "./server-under-test.ts";

const UNKNOWN_THREAD = "01990000-0000-7000-8000-000000000000";
const INPUT = [{ type: "text", text: "hi" }];

async function opened(capabilities?: object) {
  const server = await CodexServerUnderTest.open(onTestFinished);
  return { server, client: await server.client(capabilities) };
}

function errorMessage(client: WireClient, method: string, params: object): Promise<string> {
  return client.request(method, params).then(
    () => "answered",
    (error: unknown) => String(fields(error).message).replace(`${method} was refused: `, ""),
  );
}

/** A thread with these prompts, one turn each. */
async function threadWith(client: WireClient, ...prompts: readonly string[]) {
  const threadId = await startThread(client);
  const turnIds: string[] = [];
  for (const prompt of prompts) {
    const turnId = await startTurn(client, threadId, prompt);
    await turnEnd(client, turnId);
    turnIds.push(turnId);
  }
  return { threadId, turnIds };
}

describe("a request that is rejected", () => {
  test("[S2-79] lists the known requests, with the error code of Codex", async () => {
    const { client } = await opened();
    client.send({ id: 9, method: "no/such", params: {} });
    const { error } = await client.waitFor((message) => message.id === 9);
    expect(error).toEqual({
      code: -32600,
      message: expect.stringMatching(
        /^Invalid request: unknown variant `no\/such`, expected one of `initialize`, /,
      ),
    });
  });

  test.each([
    [
      "thread/start",
      { approvalPolicy: "bogus" },
      "Invalid request: unknown variant `bogus`, expected one of",
    ],
    ["thread/start", { cwd: 7 }, "Invalid request: invalid type: integer `7`, expected a string"],
    ["turn/start", { threadId: UNKNOWN_THREAD }, "Invalid request: missing field `input`"],
    [
      "turn/start",
      { threadId: UNKNOWN_THREAD, input: [{ type: "bogus" }] },
      "Invalid request: unknown variant `bogus`, expected one of `text`, `image`",
    ],
    [
      "review/start",
      { threadId: UNKNOWN_THREAD, target: { type: "all" } },
      "Invalid request: unknown variant `all`, expected one of `uncommittedChanges`",
    ],
    ["thread/list", { limit: -1 }, "Invalid request: invalid value: integer `-1`, expected u32"],
    ["thread/list", { cursor: "zzz" }, "invalid cursor: zzz"],
    ["thread/turns/list", { threadId: UNKNOWN_THREAD, cursor: "zzz" }, "invalid cursor: zzz"],
    ["thread/read", { threadId: "../../etc/passwd" }, "invalid thread id: invalid character"],
    ["thread/read", { threadId: "a\\u0000b" }, "invalid thread id: invalid character"],
    ["thread/read", { threadId: UNKNOWN_THREAD }, `thread not loaded: ${UNKNOWN_THREAD}`],
    [
      "thread/resume",
      { threadId: UNKNOWN_THREAD },
      `no rollout found for thread id ${UNKNOWN_THREAD} (thread not found)`,
    ],
    ["thread/archive", { threadId: UNKNOWN_THREAD }, `no rollout found for thread id ${UNKNOWN_THREAD}`],
    ["turn/start", { threadId: UNKNOWN_THREAD, input: INPUT }, `thread not found: ${UNKNOWN_THREAD}`],
    [
      "turn/steer",
      { threadId: UNKNOWN_THREAD, input: [], expectedTurnId: "" },
      "expectedTurnId must not be empty",
    ],
  ])("%s with %j has the message of Codex", async (method, params, message) => {
    const { client } = await opened();
    expect(await errorMessage(client, method, params)).toContain(message);
  });

  test("[S2-4] initialize comes first and once, and needs a name", async () => {
    const { server } = await opened();
    const client = server.connect();
    expect(await errorMessage(client, "thread/list", {})).toBe("Not initialized");
    expect(await errorMessage(client, "initialize", {})).toBe("Invalid request: missing field `clientInfo`");
    await client.request("initialize", { clientInfo: { name: "probe", version: "1" } });
    expect(await errorMessage(client, "initialize", { clientInfo: { name: "p", version: "1" } })).toBe(
      "Already initialized",
    );
  });

  test("experimental requests and fields need the capability", async () => {
    const { client } = await opened({});
    const needs = (what: string) => `${what} requires experimentalApi capability`;
    expect(await errorMessage(client, "thread/settings/update", { threadId: UNKNOWN_THREAD })).toBe(
      needs("thread/settings/update"),
    );
    expect(await errorMessage(client, "thread/start", { dynamicTools: [] })).toBe(
      needs("thread/start.dynamicTools"),
    );
    const granular = { approvalPolicy: { granular: {} } };
    expect(await errorMessage(client, "thread/start", granular)).toBe(needs("askForApproval.granular"));
    expect(await errorMessage(client, "thread/start", { dynamicTools: null })).toBe("answered");
  });
});

describe("threads of a Codex client", () => {
  test("[S2-6] [S2-85] [S2-16] run with the settings that the client sends", async () => {
    const { client, server } = await opened();
    const settings = { model: "scripted/swift", approvalPolicy: "on-request", sandbox: "read-only" };
    const opening = await ask(client, "thread/start", { ...settings, developerInstructions: "Be brief." });
    expect(opening).toMatchObject({
      model: "scripted/swift",
      approvalPolicy: "on-request",
      sandbox: { type: "readOnly", networkAccess: false },
    });
    const threadId = String(fields(opening.thread).id);
    const policies = [
      { type: "dangerFullAccess" },
      { type: "readOnly" },
      { type: "externalSandbox", networkAccess: "enabled" },
      { type: "workspaceWrite", writableRoots: ["/tmp"], networkAccess: true },
    ];
    for (const sandboxPolicy of policies) {
      const isOpen = sandboxPolicy.type === "dangerFullAccess" || sandboxPolicy.type === "externalSandbox";
      const approvalPolicy = isOpen ? "untrusted" : "never";
      const turnId = await startTurn(client, threadId, "go", {
        sandboxPolicy,
        approvalPolicy,
        effort: "unknown",
      });
      await turnEnd(client, turnId);
      expect(server.driver.turns.at(-1)?.settings.sandboxPolicy).toMatchObject(sandboxPolicy);
    }
    expect(server.driver.turns[0]?.settings.developerInstructions).toBe("Be brief.");
  });

  test("open without the effort of another model that the client still sends", async () => {
    const { client } = await opened();
    const config = { model_reasoning_effort: "medium" };
    const { thread, reasoningEffort } = await ask(client, "thread/start", { config });
    expect(reasoningEffort).toBe(null);
    const threadId = String(fields(thread).id);
    await turnEnd(client, await startTurn(client, threadId, "go", {}));
    expect(await ask(client, "thread/resume", { threadId, config })).toMatchObject({
      thread: { id: threadId },
    });
    const forked = await ask(client, "thread/fork", { threadId, config });
    expect(forked).toMatchObject({ thread: { forkedFromId: threadId }, reasoningEffort: null });
  });

  test("[S2-83] [S2-84] take every type of input", async () => {
    const { client, server } = await opened();
    const threadId = await startThread(client);
    const input = [
      { type: "text", text: "look", text_elements: [] },
      { type: "image", url: "data:image/png;base64,AA==" },
      { type: "localImage", path: "/tmp/a.png" },
      { type: "skill", name: "s", path: "/tmp/s" },
      { type: "mention", name: "m", path: "/tmp/m" },
    ];
    const { turn } = await ask(client, "turn/start", { threadId, input });
    await turnEnd(client, String(fields(turn).id));
    expect(server.driver.turns[0]?.input.map(({ type }) => type)).toEqual(input.map(({ type }) => type));
    const items = await ask(client, "thread/items/list", { threadId });
    expect(fields(fields(Object(items.data)[0]).item).content).toEqual(input);
  });

  test("[S2-7] [S2-8] [S2-11] [S2-12] [S2-13] [S2-42] are listed, read, named, archived and unarchived", async () => {
    const { client } = await opened();
    const { threadId } = await threadWith(client, "fix the lamp");
    await startThread(client);
    const listed = async (params: object) =>
      Object(await ask(client, "thread/list", params)).data.map((thread: unknown) => fields(thread).id);
    expect(await listed({})).toEqual([threadId]);
    expect(await listed({ searchTerm: "lamp" })).toEqual([threadId]);
    expect(await listed({ searchTerm: "sofa" })).toEqual([]);
    expect(await listed({ sectionId: "any" })).toEqual([]);
    expect(await errorMessage(client, "thread/name/set", { threadId, name: " " })).toBe(
      "thread name must not be empty",
    );
    expect(await ask(client, "thread/name/set", { threadId, name: " Lamp " })).toEqual({});
    const named = await client.waitForMethod("thread/name/updated");
    expect(named.params).toEqual({ threadId, threadName: "Lamp" });
    const { thread } = await ask(client, "thread/read", { threadId, includeTurns: true });
    expect(thread).toMatchObject({ name: "Lamp", preview: "fix the lamp", turns: [{ itemsView: "full" }] });
    await ask(client, "thread/archive", { threadId });
    expect(await listed({ archived: true })).toEqual([threadId]);
    expect(await errorMessage(client, "thread/resume", { threadId })).toContain("is archived");
    await ask(client, "thread/unarchive", { threadId });
    await ask(client, "thread/delete", { threadId });
    expect(await listed({})).toEqual([]);
  });

  test("are not loaded while archived, idle when resumed, and closed without another status", async () => {
    const { server, client } = await opened();
    const { threadId } = await threadWith(client, "fix the lamp");
    const [other, bystander] = [await server.client(), await server.client()];
    await ask(other, "thread/resume", { threadId, excludeTurns: true });
    await ask(client, "thread/archive", { threadId });
    const clients = [client, other, bystander];
    for (const one of clients) await one.waitForMethod("thread/archived");
    const notLoaded = { id: threadId, status: { type: "notLoaded" }, environments: null };
    expect(await ask(client, "thread/list", { archived: true })).toMatchObject({ data: [notLoaded] });
    expect(await ask(client, "thread/unarchive", { threadId })).toMatchObject({ thread: notLoaded });
    await client.waitForMethod("thread/unarchived");
    const resumed = client.mark;
    await ask(client, "thread/resume", { threadId, excludeTurns: true });
    expect(received(client, resumed).slice(0, 2)).toEqual([
      "thread/status/changed idle",
      expect.stringMatching(/^answer /),
    ]);
    const marks = clients.map(({ mark }) => mark);
    await ask(client, "thread/delete", { threadId });
    for (const one of clients) await one.waitForMethod("thread/deleted");
    const [own = [], ...theirs] = clients.map((one, index) => received(one, marks[index]));
    const { length } = own;
    expect(own.slice(length - 3)).toEqual([
      "thread/status/changed notLoaded",
      expect.stringMatching(/^answer /),
      "thread/deleted",
    ]);
    for (const messages of theirs) expect(messages).not.toContain("thread/closed");
  });

  test("[S2-10] [S2-14] are forked and reverted, with thread/rollback too", async () => {
    const { client } = await opened();
    const { threadId, turnIds } = await threadWith(client, "one", "two", "three");
    const turnsOf = (thread: unknown) => Object(fields(thread).turns).map((turn: unknown) => fields(turn).id);
    const fork = await ask(client, "thread/fork", { threadId, lastTurnId: turnIds[1] });
    expect(turnsOf(fork.thread)).toEqual(turnIds.slice(0, 2));
    const other = { model: "scripted/swift", sandbox: "read-only" };
    expect(await ask(client, "thread/fork", { threadId, ...other })).toMatchObject({
      ...{ model: "scripted/swift", sandbox: { type: "readOnly" } },
    });
    const before = await ask(client, "thread/fork", { threadId, beforeTurnId: turnIds[0] });
    expect(turnsOf(before.thread)).toEqual([]);
    expect(await errorMessage(client, "thread/revert", { threadId, beforeTurnId: "x" })).toBe(
      "turn not found: x",
    );
    await ask(client, "thread/revert", { threadId, beforeTurnId: turnIds[2] });
    await client.waitForMethod("thread/reverted");
    const rolled = await ask(client, "thread/rollback", { threadId, numTurns: 1 });
    expect(turnsOf(rolled.thread)).toEqual(turnIds.slice(0, 1));
    expect(fields((await client.waitForMethod("deprecationNotice")).params).summary).toMatch(
      /thread\/revert/,
    );
  });

  test("[S2-14] keep their files when turns are rolled back", async () => {
    const { path: cwd } = await temporaryFolder();
    const started = new Gate();
    const made = join(cwd, "made.txt");
    const server = await CodexServerUnderTest.open(onTestFinished, {
      scripts: () => [
        {
          approve: {
            kind: "fileChange",
            itemId: "f",
            changes: [{ path: made, kind: "add", diff: "+made\n" }],
          },
        },
        { wait: started },
      ],
    });
    const client = await server.client();
    const threadId = await startThread(client, { cwd, approvalPolicy: "never" });
    const turnId = await startTurn(client, threadId, "go");
    await started.reached;
    writeFileSync(made, "made\n");
    started.open();
    await turnEnd(client, turnId);
    await ask(client, "thread/rollback", { threadId, numTurns: 1 });
    expect(existsSync(made)).toBe(true);
  });

  test("are read page by page, in both directions, each entry once", async () => {
    const { client } = await opened();
    const { threadId, turnIds } = await threadWith(client, "one", "two", "three");
    const walk = async (method: string, params: object) => {
      const seen: unknown[] = [];
      for (let cursor: unknown = null; ; ) {
        const page = await ask(client, method, { threadId, ...params, cursor });
        seen.push(...Object(page.data));
        cursor = page.nextCursor;
        if (cursor === null) return seen.map((entry) => fields(fields(entry).item ?? entry).id);
      }
    };
    const newest = turnIds.toReversed();
    expect(await walk("thread/turns/list", { limit: 2 })).toEqual(newest);
    expect(await walk("thread/turns/list", { limit: 2, sortDirection: "asc" })).toEqual(turnIds);
    const forward = await walk("thread/items/list", { limit: 4 });
    expect(new Set(forward).size).toBe(6);
    expect(await walk("thread/items/list", { limit: 4, sortDirection: "desc" })).toEqual(
      forward.toReversed(),
    );
    expect(await walk("thread/items/list", { turnId: turnIds[1] })).toEqual(forward.slice(2, 4));
    const { itemsBackwardsCursor: cursor } = await ask(client, "thread/resume", {
      threadId,
      excludeTurns: true,
    });
    const page = await ask(client, "thread/items/list", {
      threadId,
      cursor,
      sortDirection: "desc",
      limit: 1,
    });
    expect(fields(fields(Object(page.data)[0]).item).id).toBe(forward.at(-1));
  });

  test("[S2-19] [S2-20] [S2-21] are reviewed, inline or detached", async () => {
    const { client, server } = await opened();
    const { threadId } = await threadWith(client, "one");
    const targets = [
      { type: "uncommittedChanges" },
      { type: "baseBranch", branch: "main" },
      { type: "commit", sha: "0123456789", title: null },
      { type: "custom", instructions: "Look." },
    ];
    const titles = ["current changes", "changes against 'main'", "commit 0123456", "Look."];
    for (const [index, target] of targets.entries()) {
      const { turn, reviewThreadId } = await ask(client, "review/start", {
        threadId,
        target,
        delivery: "inline",
      });
      expect(reviewThreadId).toBe(threadId);
      expect(fields(turn).items).toMatchObject([{ type: "userMessage", content: [{ text: titles[index] }] }]);
      await turnEnd(client, String(fields(turn).id));
    }
    expect(server.driver.turns.slice(1).map(({ review }) => ({ title: null, ...review }))).toEqual(
      targets.map((target) => ({ title: null, ...target })),
    );
    const beside = { threadId, target: targets[0], delivery: "detached" };
    expect((await ask(client, "review/start", beside)).reviewThreadId).not.toBe(threadId);
  });

  test("[S2-27] have the models of all agents, none of them with an upgrade", async () => {
    const { client } = await opened();
    const { data } = await ask(client, "model/list", { includeHidden: true });
    const models = Object(data).map(fields);
    expect(models.filter((model: { isDefault: boolean }) => model.isDefault)).toHaveLength(1);
    expect(models[0]).toMatchObject({
      id: "scripted/steady",
      model: "scripted/steady",
      upgrade: null,
      hidden: false,
    });
  });

  test("[S2-27] have the efforts of each model, and none where an agent cannot report them", async () => {
    const selectors = (model: string): ConfigOption[] => {
      if (model === "broken/steady") throw new FlintError("agentFailed", "It has no list.");
      const options = [model, "low"].map((id) => ({ id, name: `Effort ${id}` }));
      return [{ type: "select", id: "reasoning_effort", name: "Effort", options, value: "low" }];
    };
    const otherDrivers = ["eager", "broken"].map((id) => new ScriptedDriver({ id, selectors }));
    const client = await (await CodexServerUnderTest.open(onTestFinished, { otherDrivers })).client();
    const { data } = await ask(client, "model/list");
    const efforts = listOf(data)
      .map(fields)
      .map((row) => [row.id, row.supportedReasoningEfforts, row.defaultReasoningEffort]);
    const both = (model: string) =>
      [model, "low"].map((id) => ({ reasoningEffort: id, description: `Effort ${id}` }));
    expect(efforts).toEqual([
      ["scripted/steady", [], "medium"],
      ["scripted/swift", [], "medium"],
      ["eager/steady", both("eager/steady"), "low"],
      ["eager/swift", both("eager/swift"), "low"],
      ["broken/steady", [], "medium"],
      ["broken/swift", both("broken/swift"), "low"],
    ]);
    expect(otherDrivers.flatMap(({ sessions }) => sessions)).toEqual([]);
  });

  test("[S2-9] resume with the developer instructions of the request", async () => {
    const { server, client } = await opened();
    const { threadId } = await threadWith(client, "first");
    await ask(client, "thread/resume", { threadId, developerInstructions: "Be brief." });
    await turnEnd(client, await startTurn(client, threadId, "second"));
    expect(server.driver.turns.map(({ settings }) => settings.developerInstructions)).toEqual([
      undefined,
      "Be brief.",
    ]);
  });

  test("[S2-6] are ephemeral when started or forked as such, and then not listed", async () => {
    const { client } = await opened();
    const { threadId } = await threadWith(client, "kept");
    const { thread: started } = await ask(client, "thread/start", { ephemeral: true });
    const { thread: forked } = await ask(client, "thread/fork", { threadId, ephemeral: true });
    expect([started, forked]).toMatchObject([{ ephemeral: true }, { ephemeral: true }]);
    await turnEnd(client, await startTurn(client, String(fields(started).id), "gone"));
    const { data } = await ask(client, "thread/list");
    expect(listOf(data)).toMatchObject([{ id: threadId, ephemeral: false }]);
  });

  test("[S2-9] continue with another model when resumed with one", async () => {
    const { client } = await opened();
    const { threadId } = await threadWith(client, "one");
    expect(await ask(client, "thread/resume", { threadId, model: "scripted/swift" })).toMatchObject({
      model: "scripted/swift",
      thread: { turns: [{ status: "completed" }] },
    });
    await client.waitForMethod("thread/goal/cleared");
  });
});
