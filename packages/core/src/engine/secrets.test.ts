import { Gate, type Script, settled, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";

/** Assembled here, so that no scan of this repository for keys finds one. */
const BODY = "aB3dE6gH9jK2mN5pQ8sT1vX4zC7fG0hJ";
const KEY = `sk-proj-${BODY}`;
const SECRET = `quiet words ${BODY}`;

function start(...scripts: Script[]) {
  const server = testEngine({ scripts, approvalPolicy: "never", secrets: [SECRET] });
  return { ...server, server, client: server.connect() };
}

describe("keys and secrets", () => {
  test("are removed from everything that is stored and sent [P31]", async () => {
    const text = `the key is ${KEY} and ${SECRET}.`;
    const { client } = start([
      { text, pieces: 9 },
      { reasoning: text, pieces: 30 },
      { command: `echo ${KEY}`, output: [`got ${KEY.slice(0, 12)}`, `${KEY.slice(12)}\n`, `${SECRET}\n`] },
      { tool: "look", arguments: { header: `Bearer ${BODY}` }, result: { token: KEY } },
      { emit: { type: "error", error: { message: `401 for ${KEY}` }, willRetry: true } },
    ]);
    const threadId = await client.startThread();
    const turn = await client.runTurn(threadId, `use ${KEY}, or ${SECRET}`);
    const { events } = await client.call("thread/events/list", { threadId });
    for (const seen of [turn, events, client.events])
      expect(JSON.stringify(seen)).not.toContain(BODY.slice(4, 20));
    const [user, said] = turn.items;
    expect(user).toMatchObject({ content: [{ text: "use [redacted:api-key], or [redacted:secret]" }] });
    expect(said).toMatchObject({ text: "the key is [redacted:api-key] and [redacted:secret]." });
  });

  test("reach the agent as the user sent them", async () => {
    const { client, server } = start([{ text: "fine" }]);
    const threadId = await client.startThread();
    await client.runTurn(threadId, `use ${KEY}`);
    expect(JSON.stringify(server.driver.turns)).toContain(KEY);
  });

  test("are distinguished from text that only looks like a key, which is complete when the item or turn ends", async () => {
    const gate = new Gate();
    const item = { type: "agentMessage", id: "m", text: "" } as const;
    const { client } = start([
      { text: "ends with sk-", pieces: 5 },
      { emit: { type: "item/started", item } },
      { emit: { type: "item/agentMessage/delta", itemId: "m", delta: "cut off at ghp_abc" } },
      { wait: gate },
    ]);
    const threadId = await client.startThread();
    const turnId = await client.startTurn(threadId, "go");
    await gate.reached;
    await settled();
    const pieces = () =>
      client.events.flatMap((event) => (event.type === "item/agentMessage/delta" ? [event.data.delta] : []));
    expect(pieces().join("")).toBe("ends with sk-cut off at ");
    await client.call("turn/interrupt", { threadId });
    const turn = await client.turnEnd(turnId);
    expect(turn.items.slice(1)).toMatchObject([{ text: "ends with sk-" }, { text: "cut off at ghp_abc" }]);
    expect(pieces().join("")).toBe("ends with sk-cut off at ghp_abc");
  });

  test("are removed from errors and from the output of commands [P31]", async () => {
    const { client, server } = start([{ throws: new Error(`refused ${SECRET}`) }]);
    const threadId = await client.startThread();
    const turn = await client.runTurn(threadId, "go");
    expect(turn.error?.message).toContain("refused [redacted:secret]");
    server.sandbox.play = async ({ onOutput }) => {
      onOutput(`${KEY}\n`, "stdout");
      return { exitCode: 0, durationMs: 0, ended: "exited" };
    };
    expect(await client.call("command/exec", { command: ["env"] })).toMatchObject({
      stdout: "[redacted:api-key]\n",
    });
    server.sandbox.play = () => Promise.reject(new Error(`no such place: ${SECRET}`));
    await expect(client.call("command/exec", { command: ["env"] })).rejects.toMatchObject({
      message: expect.stringContaining("no such place: [redacted:secret]"),
    });
  });
});
