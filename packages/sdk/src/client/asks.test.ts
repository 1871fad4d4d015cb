import { afterEach, describe, expect, test } from "vitest";
import { connect } from "../connect.ts";
import type { Warning } from "../errors.ts";
import { aTurn, FakeServer } from "../testing/fake-server.ts";
import type { OnApproval, OnQuestion, OnToolCall } from "./asks.ts";
import type { FlintClient } from "./flint-client.ts";
import type { ApprovalRequest } from "./read-ask.ts";

const place = { threadId: "t", turnId: "u", itemId: "i" };
const command = { ...place, approvalId: "a", command: "rm -rf build", cwd: "/code", reason: "clean up" };
const COMMAND = "item/commandExecution/requestApproval";
const QUESTION = "item/tool/requestUserInput";
const question = { ...place, questionId: "q", questions: [{ id: "color", question: "Which color?" }] };
const resolution = { decision: { outcome: "allow", scope: "once" }, by: "client" };

let client: FlintClient | undefined;
afterEach(() => client?.close());

async function serverFor(handlers: {
  onApproval?: OnApproval;
  onQuestion?: OnQuestion;
  onToolCall?: OnToolCall;
  warnings?: Warning[];
}): Promise<FakeServer> {
  const server = new FakeServer().answer("model/list", () => ({ data: [] }));
  const { warnings = [], ...others } = handlers;
  client = await connect({
    transport: server.transport,
    onWarning: (warning) => warnings.push(warning),
    ...others,
  });
  return server;
}

/** Resolves when the request is with the handler, to the request and the handler's way to answer it. */
function heldApproval() {
  let answer: (word: "accept") => void = () => {};
  let arrived: (signal: AbortSignal) => void = () => {};
  const asked = new Promise<AbortSignal>((resolve) => {
    arrived = resolve;
  });
  const onApproval: OnApproval = (_, { signal }) => {
    arrived(signal);
    return new Promise((resolve) => {
      answer = resolve;
    });
  };
  return { onApproval, asked, answer: () => answer("accept") };
}

describe("an approval", () => {
  test("shows the exact action and is answered under the id of the request [S4-21]", async () => {
    const seen: ApprovalRequest[] = [];
    const server = await serverFor({
      onApproval: (request) => {
        seen.push(request);
        return seen.length === 1 ? "accept" : "decline";
      },
    });
    // The server's peer matches answers to requests by id, so each promise gets its own answer.
    expect(await Promise.all([server.ask(COMMAND, command), server.ask(COMMAND, command)])).toEqual([
      { decision: "accept" },
      { decision: "decline" },
    ]);
    expect(seen[0]).toEqual({
      threadId: "t",
      turnId: "u",
      approvalId: "a",
      action: { kind: "command", itemId: "i", command: "rm -rf build", cwd: "/code", reason: "clean up" },
    });
  });

  test("of files and of tools has its own kind", async () => {
    const kinds: unknown[] = [];
    const server = await serverFor({
      onApproval: ({ action }) => {
        kinds.push(action);
        return "acceptForSession";
      },
    });
    const changes = [{ path: "/project/a", kind: "add", diff: "+a" }];
    await server.ask("item/fileChange/requestApproval", { ...place, approvalId: "a", changes });
    const tool = { tool: "search", server: "web", arguments: { query: "x" } };
    const answer = await server.ask("item/toolCall/requestApproval", { ...place, approvalId: "b", ...tool });
    expect(answer).toEqual({ decision: "acceptForSession" });
    expect(kinds).toEqual([
      { kind: "fileChange", itemId: "i", changes },
      { kind: "tool", itemId: "i", ...tool },
    ]);
  });

  test("may be answered with a whole decision and a message", async () => {
    const decision = { outcome: "deny", scope: "once", message: "not today" } as const;
    const server = await serverFor({ onApproval: async () => ({ decision, message: "ask tomorrow" }) });
    expect(await server.ask(COMMAND, command)).toEqual({ decision, message: "ask tomorrow" });
  });

  test("is declined with the name of the command when there is no approval handler [S4-49]", async () => {
    const server = await serverFor({});
    expect(await server.ask(COMMAND, command)).toEqual({
      decision: "decline",
      message: 'Declined the command "rm -rf build": this client has no onApproval handler.',
    });
  });

  test("is declined when the handler throws or answers with a malformed value [S4-49]", async () => {
    const warnings: Warning[] = [];
    let calls = 0;
    const onApproval: OnApproval = async () => {
      calls += 1;
      if (calls === 1) throw new Error("database gone");
      // Values that a program without types may return.
      return "yes" as "accept";
    };
    const server = await serverFor({ onApproval, warnings });
    for (const problem of ["failed: database gone", "gave no decision"]) {
      expect(await server.ask(COMMAND, command)).toEqual({
        decision: "decline",
        message: expect.stringContaining(`the onApproval handler ${problem}`),
      });
    }
    expect(warnings.map(({ kind }) => kind)).toEqual(["handlerFailed", "handlerFailed"]);
  });

  test("left to other clients gets an error reply [S4-23]", async () => {
    const server = await serverFor({ onApproval: () => "leave" });
    await expect(server.ask(COMMAND, command)).rejects.toThrow("leaves the command");
  });

  test("answered elsewhere ends the handler's wait, and its late answer is not sent", async () => {
    const held = heldApproval();
    const server = await serverFor({ onApproval: held.onApproval });
    let answered = false;
    void server.ask(COMMAND, command).then(
      () => {
        answered = true;
      },
      () => {},
    );
    const signal = await held.asked;
    server.notify("approval/resolved", { ...place, approvalId: "another", resolution });
    await client?.models();
    expect(signal.aborted).toBe(false);
    server.notify("approval/resolved", { ...place, approvalId: "a", resolution });
    await client?.models();
    expect(signal.aborted).toBe(true);
    held.answer();
    await client?.models();
    expect(answered).toBe(false);
  });

  test("ends with its turn and with the connection", async () => {
    const first = heldApproval();
    const server = await serverFor({ onApproval: first.onApproval });
    server.ask(COMMAND, command).catch(() => {});
    const signal = await first.asked;
    server.notify("turn/completed", { threadId: "t", turn: aTurn("u", { status: "interrupted" }) });
    await client?.models();
    expect(signal.aborted).toBe(true);

    const second = heldApproval();
    const other = await serverFor({ onApproval: second.onApproval });
    other.ask(COMMAND, command).catch(() => {});
    const lost = await second.asked;
    other.close();
    await client?.closed;
    expect(lost.aborted).toBe(true);
  });
});

describe("a question to the user", () => {
  test("is answered by question id with a list of answers [S4-22]", async () => {
    const server = await serverFor({
      onQuestion: ({ questions }) => ({ [questions[0]?.id ?? ""]: "red", sizes: ["S", "M"] }),
    });
    expect(await server.ask(QUESTION, question)).toEqual({
      answers: { color: { answers: ["red"] }, sizes: { answers: ["S", "M"] } },
    });
  });

  test("without a handler gets an error reply, never silence [S4-23]", async () => {
    const without = await serverFor({});
    await expect(without.ask(QUESTION, question)).rejects.toThrow("no onQuestion handler");
    await client?.close();
    const failing = await serverFor({
      onQuestion: () => {
        throw new Error("the handler failed");
      },
    });
    await expect(failing.ask(QUESTION, question)).rejects.toThrow("the handler failed");
    await client?.close();
    const leaving = await serverFor({ onQuestion: () => "leave" });
    await expect(leaving.ask(QUESTION, question)).rejects.toThrow("leaves the question");
  });

  test("answered elsewhere no longer needs an answer", async () => {
    let arrived: (signal: AbortSignal) => void = () => {};
    const asked = new Promise<AbortSignal>((resolve) => {
      arrived = resolve;
    });
    const server = await serverFor({
      onQuestion: (_, { signal }) => {
        arrived(signal);
        return new Promise(() => {});
      },
    });
    server.ask(QUESTION, question).catch(() => {});
    const signal = await asked;
    server.notify("question/resolved", { ...place, questionId: "q", answers: {}, by: "client" });
    await client?.models();
    expect(signal.aborted).toBe(true);
  });
});

describe("a tool of this client", () => {
  const CALL = "item/tool/call";
  const call = { ...place, callId: "c", tool: "lamp", arguments: { room: "hall" } };
  const lit = { success: true, content: [{ type: "text" as const, text: "lit" }] };

  test("[S2-76] is run with what the agent gave", async () => {
    const seen: unknown[] = [];
    const server = await serverFor({
      onToolCall: (request) => {
        seen.push(request);
        return lit;
      },
    });
    expect(await server.ask(CALL, call)).toEqual(lit);
    expect(seen).toEqual([call]);
  });

  test("answers with an error if it is left to other clients or has no handler", async () => {
    const server = await serverFor({ onToolCall: () => "leave" });
    await expect(server.ask(CALL, call)).rejects.toThrow("leaves lamp to others");
    await client?.close();
    await expect((await serverFor({})).ask(CALL, call)).rejects.toThrow("no onToolCall handler");
  });

  test("that throws has failed, with its message", async () => {
    const warnings: Warning[] = [];
    const onToolCall = () => {
      throw new Error("no current");
    };
    const server = await serverFor({ onToolCall, warnings });
    const text = "The onToolCall handler failed: no current";
    expect(await server.ask(CALL, call)).toEqual({ success: false, content: [{ type: "text", text }] });
    expect(warnings).toMatchObject([{ kind: "handlerFailed", message: text }]);
  });

  test("is stopped when another client was faster", async () => {
    let stopped: (reason: unknown) => void = () => {};
    const reason = new Promise((resolve) => {
      stopped = resolve;
    });
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const onToolCall: OnToolCall = (_, { signal }) => {
      signal.addEventListener("abort", () => stopped(signal.reason), { once: true });
      begun();
      return new Promise(() => {});
    };
    const server = await serverFor({ onToolCall });
    void server.ask(CALL, call).catch(() => undefined);
    await running;
    server.notify("tool/resolved", { ...place, callId: "c", success: true, by: "client" });
    expect(await reason).toMatchObject({ message: "No answer is needed any more." });
  });
});

describe("a request of the server", () => {
  test("that is unknown is noted, gets an error reply, and the conversation continues [S4-23, S4-40]", async () => {
    const warnings: Warning[] = [];
    const server = await serverFor({ warnings });
    await expect(server.ask("window/openDoor", {})).rejects.toMatchObject({
      code: -32601,
      message: 'This client does not know the request "window/openDoor".',
    });
    expect(warnings).toEqual([
      { kind: "unknownRequest", message: 'This client does not know the request "window/openDoor".' },
    ]);
    expect(await client?.models()).toEqual([]);
  });

  test.each([COMMAND, "item/fileChange/requestApproval", "item/toolCall/requestApproval", QUESTION])(
    "%s that is malformed gets an error reply and is never approved",
    async (method) => {
      const warnings: Warning[] = [];
      const server = await serverFor({ warnings, onApproval: () => "accept" });
      await expect(server.ask(method, { threadId: "t" })).rejects.toMatchObject({ code: -32602 });
      expect(warnings).toMatchObject([{ kind: "malformedRequest" }]);
    },
  );

  test("gets an error reply when the answer cannot be sent", async () => {
    const answer = { decision: "accept", _meta: { count: 1n } } as const;
    const server = await serverFor({ onApproval: () => answer });
    await expect(server.ask(COMMAND, command)).rejects.toThrow("cannot be sent");
  });
});
