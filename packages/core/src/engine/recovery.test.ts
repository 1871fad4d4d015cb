import { appendFile, cp, readFile, writeFile } from "node:fs/promises";
import { JsonlStore } from "@flint/host/store";
import { FlintError } from "@flint/protocol";
import {
  Gate,
  type Script,
  settled,
  type TestClient,
  temporaryFolder,
  testEngine,
  UnreliableStore,
  verifies,
} from "@flint/testkit";
import { describe, expect, test } from "vitest";

const started = {
  emit: { type: "item/started", item: { type: "agentMessage", id: "m", text: "" } },
} as const;
const piece = (delta: string) => ({ emit: { type: "item/agentMessage/delta", itemId: "m", delta } }) as const;

/**
 * The store of a server that was killed during its second turn: a copy of its files, made when the script waits at its
 * gate and `until` has resolved.
 */
async function killed(script: Script, until?: (client: TestClient) => Promise<unknown>) {
  const folder = await temporaryFolder();
  const gate = new Gate();
  const store = new JsonlStore({ root: folder.join("alive"), durability: "relaxed" });
  const server = testEngine({ store, scripts: [[{ text: "before" }], [...script, { wait: gate }]] });
  const client = server.connect();
  const threadId = await client.startThread();
  await client.runTurn(threadId, "one");
  const turnId = await client.startTurn(threadId, "two");
  if (until === undefined) await gate.reached;
  else await until(client);
  await server.clock.advance(100);
  await cp(folder.join("alive"), folder.join("left"), { recursive: true });
  const log = folder.join("left", "threads", threadId, "events.jsonl");
  const left = () => new JsonlStore({ root: folder.join("left"), durability: "relaxed" });
  return { left, log, threadId, turnId, client };
}

const COMMAND: Script = [{ command: "rm -r build", asks: false, output: ["removing"], until: new Gate() }];

describe("a thread whose server was killed during a turn", () => {
  verifies(
    "P15",
    "reads as interrupted, with everything that was stored, and the next turn completes",
    async () => {
      const { left, threadId, turnId } = await killed([{ text: "whole" }, started, piece("I was go")]);
      const server = testEngine({ store: left() });
      const client = server.connect();
      const answer = await client.call("thread/attach", { threadId });
      expect(answer.thread.status).toEqual({ type: "idle" });
      expect(answer.turns.at(-1)).toMatchObject({
        id: turnId,
        status: "interrupted",
        error: { errorInfo: "ServerStopped" },
        items: [
          { type: "userMessage", content: [{ text: "two" }] },
          { type: "agentMessage", text: "whole" },
          { type: "agentMessage", text: "I was go", partial: true },
        ],
      });
      await settled();
      expect(server.driver.sessions).toEqual([]);
      expect((await client.runTurn(threadId, "go on")).status).toBe("completed");
      const remembered = server.driver.sessions[0]?.history.map((turn) => turn.status);
      expect(remembered).toEqual(["completed", "interrupted"]);
    },
  );

  verifies("P16", "shows an unfinished command as failed, and never runs it again", async () => {
    const { left, threadId } = await killed(COMMAND, (client) =>
      client.waitFor("item/commandExecution/outputDelta"),
    );
    const server = testEngine({ store: left() });
    const client = server.connect();
    await client.call("thread/resume", { threadId });
    await client.waitFor("turn/completed", (event) => event.data.turn.status === "interrupted");
    const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(turns?.at(-1)?.items.at(-1)).toMatchObject({
      command: "rm -r build",
      status: "failed",
      aggregatedOutput: "removing",
    });
    expect([server.driver.sessions, server.sandbox.launches]).toEqual([[], []]);
  });

  verifies(
    "P17",
    "has no open approval; a late answer runs nothing, and allows the command once",
    async () => {
      const script: Script = [{ command: "rm -r build" }];
      const {
        left,
        threadId,
        client: killedClient,
      } = await killed(script, (client) => client.waitFor("approval/requested"));
      const { id: approvalId } = (await killedClient.waitFor("approval/requested")).data.approval;
      const server = testEngine({ store: left() });
      const client = server.connect();
      const { approvals, turns } = await client.call("thread/attach", { threadId });
      expect(approvals).toEqual([]);
      expect(turns.at(-1)).toMatchObject({ status: "interrupted", items: [{ type: "userMessage" }] });
      const decision = { outcome: "allow" } as const;
      const answer = await client.call("approval/respond", { threadId, approvalId, decision });
      expect(answer.grant).toMatchObject({ scope: "once", match: { command: "rm -r build" } });
      const { events } = await client.call("thread/events/list", { threadId });
      expect(events.find((event) => event.type === "approval/resolved")?.data).toMatchObject({
        approvalId,
        resolution: { decision: { outcome: "cancel" }, by: "serverStopped" },
      });
      expect(server.driver.sessions).toEqual([]);
    },
  );

  test("is closed once, after everything that was stored, however often it is loaded", async () => {
    const { left, log, threadId } = await killed([started, piece("I was go")]);
    const before = await readFile(log, "utf8");
    const known = (await left().peek(threadId)).state.seq;
    for (let round = 0; round < 3; round += 1) {
      const server = testEngine({ store: left() });
      await server.connect().call("thread/attach", { threadId });
      await server.close();
    }
    const after = await readFile(log, "utf8");
    expect(after.startsWith(before)).toBe(true);
    const added: string[] = [];
    for await (const event of left().read(threadId, known)) added.push(event.type);
    expect(added).toEqual(["item/completed", "turn/completed"]);
  });

  test("reads as interrupted also for thread/read", async () => {
    const { left, threadId } = await killed([started]);
    const client = testEngine({ store: left() }).connect();
    expect((await client.call("thread/list", {})).data[0]?.status.type).toBe("notLoaded");
    const { turns, thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect([turns?.at(-1)?.status, thread.status.type]).toEqual(["interrupted", "idle"]);
  });

  test("is left alone while another server has it", async () => {
    const gate = new Gate();
    const store = new UnreliableStore();
    const owner = testEngine({ store, scripts: [[{ wait: gate }]] }).connect();
    const threadId = await owner.startThread();
    const turnId = await owner.startTurn(threadId, "go");
    await gate.reached;
    const other = testEngine({ store }).connect();
    const { turns, thread } = await other.call("thread/read", { threadId, includeTurns: true });
    expect([turns?.at(-1)?.status, thread.status.type]).toEqual(["inProgress", "active"]);
    const attaching = other.call("thread/attach", { threadId });
    await expect(attaching).rejects.toMatchObject({ kind: "threadLocked" });
    gate.open();
    expect((await owner.turnEnd(turnId)).status).toBe("completed");
  });
});

describe("a damaged log", () => {
  verifies(
    "P18",
    "with a torn last line loses that line only, is warned about, and continues on a new line",
    async () => {
      const { left, log, threadId } = await killed([started, piece("I was go")]);
      const whole = await readFile(log, "utf8");
      const lines = whole.trimEnd().split("\n");
      await writeFile(log, whole.slice(0, whole.length - 20));
      const client = testEngine({ store: left() }).connect();
      await client.call("thread/resume", { threadId });
      const { data } = await client.waitFor("warning");
      expect(data).toMatchObject({
        threadId,
        reason: "damagedLog",
        message: expect.stringContaining("1 unreadable"),
      });
      const turn = await client.runTurn(threadId, "go on");
      expect(turn.status).toBe("completed");
      expect(client.eventsOf("warning")).toHaveLength(1);
      const repaired = (await readFile(log, "utf8")).trimEnd().split("\n");
      expect(repaired.slice(0, lines.length - 1)).toEqual(lines.slice(0, -1));
      const bad = repaired.filter((line) => !isJson(line));
      expect(bad).toHaveLength(1);
      const { turns } = await client.call("thread/read", { threadId, includeTurns: true });
      expect(turns?.map((known) => known.status)).toEqual(["completed", "interrupted", "completed"]);
    },
  );

  test("is reported to every client that resumes or attaches", async () => {
    const { left, log, threadId } = await killed([{ text: "whole" }]);
    await appendFile(log, "neither JSON nor anything\n");
    const server = testEngine({ store: left() });
    for (const method of ["thread/resume", "thread/attach"] as const) {
      const client = server.connect();
      await client.call(method, { threadId });
      expect((await client.waitFor("warning")).data.reason).toBe("damagedLog");
    }
  });

  test("that cannot be read is reported to its subscribers, who may try again", async () => {
    const store = new UnreliableStore();
    const server = testEngine({ store });
    const owner = server.connect();
    const threadId = await owner.startThread();
    await owner.runTurn(threadId, "hi");
    store.readWaits = async () => {
      throw new FlintError("storageFailed", "The disk reports an error.");
    };
    const client = server.connect();
    await client.call("thread/resume", { threadId });
    expect((await client.waitFor("warning")).data).toMatchObject({ threadId, reason: "followingFailed" });
    expect(client.session.isSubscribed(threadId)).toBe(false);
    store.readWaits = async () => undefined;
    await client.call("thread/resume", { threadId });
    await client.waitFor("turn/completed");
  });
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    // That is what is asked here.
    return false;
  }
}
