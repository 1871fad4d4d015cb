import { memoryPair, Peer } from "@flint/rpc";
import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { flintFrontend } from "../flint/frontend.ts";
import { ClientConnection } from "../shared/client-connection.ts";
import { acpBench } from "./testing/setup.ts";

type Bench = Awaited<ReturnType<typeof acpBench>>;

/** A client at Flint's own door of the same server, which never answers what it is asked. */
async function flintClient({ engine }: Bench) {
  const [ours, theirs] = memoryPair();
  new ClientConnection(flintFrontend(), engine, ours);
  const told: string[] = [];
  const waiting: (() => void)[] = [];
  const note = (method: string) => {
    told.push(method);
    for (const wake of waiting.splice(0)) wake();
  };
  const peer = new Peer(theirs, {
    ...{ header: false, lineLimit: 1 << 24, queueLimit: 1 << 24 },
    handlers: { request: (_id, method) => note(method), notification: note, bad: () => undefined },
  });
  peer.start();
  await peer.request("initialize", { clientInfo: { name: "other", version: "1" } });
  const heard = async (method: string) => {
    while (!told.includes(method)) await new Promise<void>((wake) => waiting.push(wake));
  };
  return { peer, heard };
}

describe("one thread, many clients", () => {
  test("a turn that begins at Flint's door is seen, and its approval answered, in an editor [S3-10, S3-34]", async () => {
    const bench = await acpBench({ scripts: [[{ text: "so far" }, { command: "ls", output: ["x\n"] }]] });
    const editor = await bench.connect();
    const threadId = await editor.begin(bench.path);
    const other = await flintClient(bench);
    await other.peer.request("thread/attach", { threadId });
    await other.peer.request("turn/start", { threadId, input: [{ type: "text", text: "from elsewhere" }] });
    await other.heard("item/commandExecution/requestApproval");
    await other.heard("approval/resolved");
    await other.heard("turn/completed");
    expect(editor.of("user_message_chunk")).toMatchObject([{ content: { text: "from elsewhere" } }]);
    expect(editor.said).toBe("so far");
    expect(editor.of("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
    other.peer.close();
  });

  test("an answer at Flint's door takes the question back from the editor, and the prompt goes on", async () => {
    const never = new Gate();
    const bench = await acpBench({ scripts: [[{ command: "ls", output: ["x\n"] }]] });
    const editor = await bench.connect({ permission: () => never.opened.then(() => "reject_once") });
    const threadId = await editor.begin(bench.path);
    const answer = editor.prompt(threadId, "go");
    await editor.until(() => editor.permissions[0]);
    const other = await flintClient(bench);
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

  test("a turn outlives the editor that began it, and another one finds it again", async () => {
    const wait = new Gate();
    const bench = await acpBench({ scripts: [[{ text: "begun" }, { wait }, { text: " and done" }]] });
    const first = await bench.connect();
    const sessionId = await first.begin(bench.path);
    void first.prompt(sessionId, "go").catch(() => undefined);
    await wait.reached;
    first.connection.close();
    const second = await bench.connect();
    await second.request("session/load", { sessionId, cwd: bench.path, mcpServers: [] });
    expect(second.said).toBe("begun");
    wait.open();
    await second.until(() => (second.said === "begun and done" ? true : undefined));
  });

  test("a prompt that waits goes on after a turn that failed", async () => {
    const wait = new Gate();
    const fail = { message: "gone", errorInfo: "AgentFailed" };
    const bench = await acpBench({
      scripts: [[{ wait }, { fail }], [{ text: "second" }], [{ text: " third" }]],
    });
    const editor = await bench.connect();
    const sessionId = await editor.begin(bench.path);
    const first = editor.prompt(sessionId, "one");
    await wait.reached;
    const others = [editor.prompt(sessionId, "two"), editor.prompt(sessionId, "three")];
    const other = await flintClient(bench);
    await other.peer.request("thread/attach", { threadId: sessionId });
    wait.open();
    await expect(first).rejects.toMatchObject({ message: "gone" });
    expect(await Promise.all(others)).toEqual([{ stopReason: "end_turn" }, { stopReason: "end_turn" }]);
    expect(editor.said).toBe("second third");
    other.peer.close();
  });

  test("a prompt that waits and is taken out of the queue elsewhere is answered as cancelled", async () => {
    const wait = new Gate();
    const bench = await acpBench({ scripts: [[{ wait }]] });
    const editor = await bench.connect();
    const threadId = await editor.begin(bench.path);
    const first = editor.prompt(threadId, "one");
    await wait.reached;
    const second = editor.prompt(threadId, "two");
    const other = await flintClient(bench);
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
