import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { setUpAcp } from "../testing/setup.ts";

const QUESTION = {
  id: "colour",
  header: "Colour",
  question: "Which colour?",
  options: [{ label: "red" }, { label: "blue" }],
};

describe("ACP asks", () => {
  test("offer every kind of option, and do not repeat what is always allowed [S3-34]", async () => {
    const script = [{ command: "npm test" }];
    const { connect, path, driver } = await setUpAcp(
      { scripts: [script, script] },
      { approvalPolicy: "unlessTrusted" },
    );
    const client = await connect({ permission: () => "allow_always" });
    await client.prompt(await client.newSession(path), "go");
    expect(client.permissions[0]?.options.map(({ kind }) => kind)).toEqual([
      ...["allow_once", "allow_always", "allow_always", "reject_once", "reject_always"],
    ]);
    expect(client.permissions[0]?.options[1]?.name).toBe(
      "Always allow the agent to run commands that begin with: npm test",
    );
    await client.prompt(await client.newSession(path), "go");
    expect(client.permissions).toHaveLength(1);
    expect(driver.turns.map(({ decisions }) => decisions[0]?.outcome)).toEqual(["allow", "allow"]);
    expect(driver.turns[0]?.decisions[0]?.scope).toBe("always");
  });

  test.each([
    ["reject_once", 2],
    ["reject_always", 1],
  ])("deny on %s and show the tool call as failed [S3-23]", async (kind, asked) => {
    const script = [{ command: "rm x" }];
    const { connect, path } = await setUpAcp({ scripts: [script, script] });
    const client = await connect({ permission: () => kind });
    const session = await client.newSession(path);
    expect(await client.prompt(session, "go")).toEqual({ stopReason: "end_turn" });
    const text =
      kind === "reject_once" ? "Declined: The user rejected it." : expect.stringContaining("Declined");
    expect(client.of("tool_call_update").at(-1)).toMatchObject({
      status: "failed",
      content: [{ type: "content", content: { type: "text", text } }],
    });
    await client.prompt(session, "go");
    expect(client.permissions).toHaveLength(asked);
  });

  test("say what an action needs beyond its sandbox, and why, in the tool call", async () => {
    const needs = { network: { hosts: ["a.example:443"] } };
    const action = { kind: "command", itemId: "c", command: "curl a.example", cwd: "/", needs } as const;
    const { connect, path } = await setUpAcp({
      scripts: [[{ approve: { ...action, why: "To fetch it." } }]],
    });
    const client = await connect();
    await client.prompt(await client.newSession(path), "go");
    const [request] = client.permissions;
    expect(request?.toolCall.content).toMatchObject([
      {
        content: {
          text: expect.stringMatching(
            /^Allow it to connect to a\.example \(port 443\)\?\n[\s\S]*The agent says: To fetch it\.$/,
          ),
        },
      },
    ]);
  });

  test("accept an answer after the approval expired: the command may run once, and the client is shown it", async () => {
    const answer = new Gate();
    const script = [{ command: "make" }];
    const { connect, path, driver } = await setUpAcp(
      { scripts: [script, script] },
      { approvalTimeoutMs: 50 },
    );
    const client = await connect({ permission: () => answer.opened.then(() => "allow_once") });
    const session = await client.newSession(path);
    await client.prompt(session, "go");
    expect(client.of("tool_call_update").at(-1)).toMatchObject({ status: "failed" });
    answer.open();
    const shown = /The next time, this is allowed once: run: make \(in /;
    await client.until(() =>
      shown.test(JSON.stringify(client.of("agent_thought_chunk"))) ? true : undefined,
    );
    await client.prompt(session, "again");
    expect(client.permissions).toHaveLength(1);
    expect(driver.turns.map(({ decisions }) => decisions[0]?.outcome)).toEqual(["deny", "allow"]);
  });

  test("remember what was rejected for the session after it is loaded again", async () => {
    const { connect, path, driver } = await setUpAcp({ scripts: () => [{ command: "rm x" }] });
    const client = await connect({ permission: () => "reject_always" });
    const sessionId = await client.newSession(path);
    await client.prompt(sessionId, "go");
    await client.request("session/load", { sessionId, cwd: path, mcpServers: [] });
    await client.prompt(sessionId, "go");
    expect(client.permissions).toHaveLength(1);
    expect(driver.turns[1]?.decisions[0]?.outcome).toBe("deny");
    await client.request("session/close", { sessionId });
    await client.request("session/resume", { sessionId, cwd: path });
    await client.prompt(sessionId, "go");
    expect(client.permissions).toHaveLength(2);
  });

  test("treat an unknown option as a denial, and stop the turn on cancelled", async () => {
    const { connect, path, driver } = await setUpAcp({ scripts: [[{ command: "rm x" }]] });
    const client = await connect({ permission: () => "unknown" });
    expect(await client.prompt(await client.newSession(path), "go")).toEqual({ stopReason: "cancelled" });
    expect(driver.turns[0]?.decisions[0]?.outcome).not.toBe("allow");
  });

  test("reach a client that joins late after the items in progress, and are withdrawn elsewhere on the first answer [S3-34]", async () => {
    const never = new Gate();
    const { connect, path } = await setUpAcp({
      scripts: [[{ text: "so far" }, { command: "ls", startsFirst: true, output: ["x\n"] }]],
    });
    let withdrawn: Promise<void> | undefined;
    const first = await connect({
      permission: (_request, signal) => {
        withdrawn = new Promise((resolve) => signal.addEventListener("abort", () => resolve()));
        return never.opened.then(() => "allow_once");
      },
    });
    const sessionId = await first.newSession(path);
    const answer = first.prompt(sessionId, "go");
    await first.until(() => first.permissions[0]);
    const second = await connect();
    await second.request("session/load", { sessionId, cwd: path, mcpServers: [] });
    await second.until(() => second.permissions[0]);
    const order = second.wire.map(
      ({ method, params }) => Object(Object(params).update).sessionUpdate ?? method,
    );
    expect(order.indexOf("tool_call")).toBeLessThan(order.indexOf("session/request_permission"));
    expect(order.indexOf("agent_message_chunk")).toBeLessThan(order.indexOf("tool_call"));
    expect(await answer).toEqual({ stopReason: "end_turn" });
    await withdrawn;
    expect(first.wire.find(({ method }) => method === "$/cancel_request")).toMatchObject({
      params: { requestId: 0 },
    });
    expect(first.of("tool_call_update").at(-1)).toMatchObject({ status: "completed" });
    never.open();
  });

  test("show a question as a form to clients with forms", async () => {
    const { connect, path, driver } = await setUpAcp({
      scripts: [[{ ask: [QUESTION, { id: "why", question: "Why?" }] }]],
    });
    const client = await connect({
      capabilities: { elicitation: { form: {} } },
      elicitation: () => ({ action: "accept", content: { colour: "blue", why: "because" } }),
    });
    await client.prompt(await client.newSession(path), "go");
    expect(driver.turns[0]?.answers).toEqual([
      { colour: { answers: ["blue"] }, why: { answers: ["because"] } },
    ]);
    const asked = client.wire.find(({ method }) => method === "elicitation/create");
    expect(asked).toMatchObject({
      params: {
        mode: "form",
        requestedSchema: {
          properties: { colour: { oneOf: [{ const: "red" }, { const: "blue" }] }, why: { type: "string" } },
        },
      },
    });
  });

  test("show a question as a permission request to clients without forms", async () => {
    const { connect, path, driver } = await setUpAcp({ scripts: [[{ ask: [QUESTION] }]] });
    const client = await connect({ permission: () => "choice-1" });
    await client.prompt(await client.newSession(path), "go");
    expect(driver.turns[0]?.answers).toEqual([{ colour: { answers: ["blue"] } }]);
    expect(client.permissions[0]).toMatchObject({
      toolCall: { title: "Which colour?" },
      options: [{ name: "red" }, { name: "blue" }, { name: "No answer" }],
    });
  });

  test("show a question that cannot be asked as a message, and the turn continues", async () => {
    const { connect, path, driver } = await setUpAcp({
      scripts: [[{ ask: [{ id: "why", question: "Why?" }] }, { text: "then not" }]],
    });
    const client = await connect();
    expect(await client.prompt(await client.newSession(path), "go")).toEqual({ stopReason: "end_turn" });
    expect(driver.turns[0]?.answers).toEqual([{}]);
    expect(client.agentText).toMatch(/Why\?[\s\S]*Answer with your next prompt/);
  });
});
