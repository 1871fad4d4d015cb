import { memoryPair, Peer } from "@flint/rpc";
import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { flintFrontend } from "../flint/frontend.ts";
import { ClientConnection } from "../shared/client-connection.ts";
import { setUpAcp } from "./testing/setup.ts";

type Setup = Awaited<ReturnType<typeof setUpAcp>>;

/** A client of Flint's own protocol on the same server, which never answers requests. */
async function flintClient({ engine }: Setup) {
  const [ours, theirs] = memoryPair();
  new ClientConnection(flintFrontend(), engine, ours);
  const received: string[] = [];
  const waiting: (() => void)[] = [];
  const record = (method: string) => {
    received.push(method);
    for (const wake of waiting.splice(0)) wake();
  };
  const peer = new Peer(theirs, {
    ...{ header: false, lineLimit: 1 << 24, queueLimit: 1 << 24 },
    handlers: { request: (_id, method) => record(method), notification: record, bad: () => undefined },
  });
  peer.start();
  await peer.request("initialize", { clientInfo: { name: "other", version: "1" } });
  const has = async (method: string) => {
    while (!received.includes(method)) await new Promise<void>((wake) => waiting.push(wake));
  };
  return { peer, has };
}

describe("one thread with several clients", () => {
  test("an editor sees a turn of a Flint client and answers its approval [S3-10, S3-34]", async () => {
    const setup = await setUpAcp({ scripts: [[{ text: "so far" }, { command: "ls", output: ["x\n"] }]] });
    const editor = await setup.connect();
    const threadId = await editor.newSession(setup.path);
    const other = await flintClient(setup);
    await other.peer.request("thread/attach", { threadId });
    await other.peer.request("turn/start", { threadId, input: [{ type: "text", text: "from elsewhere" }] });
    await other.has("item/commandExecution/requestApproval");
    await other.has("approval/resolved");
    await other.has("turn/completed");
    expect(editor.of("user_message_chunk")).toMatchObject([{ content: { text: "from elsewhere" } }]);
    expect(editor.agentText).toBe("so far");
    expect(editor.of("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
    other.peer.close();
  });

  test("an approval answered by a Flint client is withdrawn from the editor", async () => {
    const never = new Gate();
    const setup = await setUpAcp({ scripts: [[{ command: "ls", output: ["x\n"] }]] });
    const editor = await setup.connect({ permission: () => never.opened.then(() => "reject_once") });
    const threadId = await editor.newSession(setup.path);
    const answer = editor.prompt(threadId, "go");
    await editor.until(() => editor.permissions[0]);
    const other = await flintClient(setup);
    const attached = Object(await other.peer.request("thread/attach", { threadId }));
    const [approval] = attached.approvals;
    await other.peer.request("approval/respond", {
      threadId,
      approvalId: approval.id,
      decision: { outcome: "allow" },
    });
    expect(await answer).toEqual({ stopReason: "end_turn" });
    expect(editor.wire.some(({ method }) => method === "$/cancel_request")).toBe(true);
    never.open();
    other.peer.close();
  });

  test("if two editors answer at the same time, the first answer wins and the other's request is withdrawn", async () => {
    const both = new Gate();
    const setup = await setUpAcp({ scripts: [[{ command: "ls", output: ["x\n"] }]] });
    const first = await setup.connect({ permission: () => both.opened.then(() => "allow_once") });
    const second = await setup.connect({ permission: () => both.opened.then(() => "reject_once") });
    const sessionId = await first.newSession(setup.path);
    await second.request("session/load", { sessionId, cwd: setup.path, mcpServers: [] });
    const answer = first.prompt(sessionId, "go");
    for (const editor of [first, second]) await editor.until(() => editor.permissions[0]);
    both.open();
    expect(await answer).toEqual({ stopReason: "end_turn" });
    const statuses = [first, second].map((editor) => editor.of("tool_call_update").at(-1)?.status);
    expect(statuses[0]).toBe(statuses[1]);
    expect(setup.driver.turns[0]?.decisions).toHaveLength(1);
  });

  test("a turn outlives the editor that started it, and another editor can load it", async () => {
    const wait = new Gate();
    const setup = await setUpAcp({ scripts: [[{ text: "begun" }, { wait }, { text: " and done" }]] });
    const first = await setup.connect();
    const sessionId = await first.newSession(setup.path);
    void first.prompt(sessionId, "go").catch(() => undefined);
    await wait.reached;
    first.connection.close();
    const second = await setup.connect();
    await second.request("session/load", { sessionId, cwd: setup.path, mcpServers: [] });
    expect(second.agentText).toBe("begun");
    wait.open();
    await second.until(() => (second.agentText === "begun and done" ? true : undefined));
  });

  test("queued prompts run after a turn that failed", async () => {
    const wait = new Gate();
    const fail = { message: "gone", errorInfo: "AgentFailed" };
    const setup = await setUpAcp({
      scripts: [[{ wait }, { fail }], [{ text: "second" }], [{ text: " third" }]],
    });
    const editor = await setup.connect();
    const sessionId = await editor.newSession(setup.path);
    const first = editor.prompt(sessionId, "one");
    await wait.reached;
    const others = [editor.prompt(sessionId, "two"), editor.prompt(sessionId, "three")];
    const other = await flintClient(setup);
    await other.peer.request("thread/attach", { threadId: sessionId });
    wait.open();
    await expect(first).rejects.toMatchObject({ message: "gone" });
    expect(await Promise.all(others)).toEqual([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
    expect(editor.agentText).toBe("second third");
    other.peer.close();
  });

  test("a queued prompt that another client deletes ends as cancelled", async () => {
    const wait = new Gate();
    const setup = await setUpAcp({ scripts: [[{ wait }]] });
    const editor = await setup.connect();
    const threadId = await editor.newSession(setup.path);
    const first = editor.prompt(threadId, "one");
    await wait.reached;
    const second = editor.prompt(threadId, "two");
    const other = await flintClient(setup);
    await other.peer.request("thread/attach", { threadId });
    const queued = async () => Object(await other.peer.request("thread/queue/list", { threadId })).queue;
    let [waiting] = await queued();
    while (waiting === undefined) [waiting] = await queued();
    await other.peer.request("thread/queue/delete", { threadId, queuedInputId: waiting.id });
    expect(await second).toEqual({ stopReason: "cancelled" });
    wait.open();
    expect(await first).toEqual({ stopReason: "end_turn" });
    other.peer.close();
  });
});
