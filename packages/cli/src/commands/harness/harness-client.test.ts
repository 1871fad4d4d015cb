import type { HarnessDecision, HarnessItem, HarnessNotification } from "@flint/protocol";
import { type Id, memoryPair, Peer, type Transport } from "@flint/rpc";
import { describe, expect, test } from "vitest";
import { type HarnessClientOptions, runHarnessClient } from "./harness-client.ts";

const ofTurn = { threadId: "t1", turnId: "u1" };
const thread = { threadId: "t1", title: "", directory: "/repo", time: { created: 1, updated: 1 } };
const turn = { ...ofTurn, status: "completed", time: { started: 1, completed: 2 } };
const action = { kind: "command", itemId: "i1", command: "npm test", cwd: "/repo" };

/** A harness server that plays a script and records the requests it gets. */
class Server {
  readonly asked: [method: string, params: unknown][] = [];
  readonly peer: Peer;
  readonly #play: (server: Server) => void | Promise<void>;
  readonly #answers = new Map<string, (params: unknown) => void>();
  readonly #refusals: Readonly<Record<string, string>>;

  constructor(transport: Transport, play: Play, refusals: Readonly<Record<string, string>> = {}) {
    this.#play = play;
    this.#refusals = refusals;
    this.peer = new Peer(transport, {
      header: true,
      lineLimit: 1_000_000,
      queueLimit: 1_000_000,
      handlers: {
        request: (id, method, params) => this.#onRequest(id, method, params),
        notification: () => {},
        bad: () => {},
      },
    });
    this.peer.start();
  }

  notice(method: HarnessNotification, params: object): void {
    this.peer.notify(method, params);
  }

  started(type: HarnessItem["type"], itemId: string, data: object): void {
    this.notice("item.started", { item: { itemId, ...ofTurn, type, data } });
  }

  completed(type: HarnessItem["type"], itemId: string, data: object): void {
    this.notice("item.completed", { item: { itemId, ...ofTurn, type, data } });
  }

  grown(itemType: HarnessItem["type"], itemId: string, field: string, delta: string, offset: number): void {
    this.notice("item.delta", { itemId, ...ofTurn, itemType, field, delta, offset });
  }

  requestApproval(requestId: string): void {
    this.notice("approval.requested", { requestId, ...ofTurn, itemId: "i1", action, expiresAt: 9 });
  }

  /** The answer to an approval, once it is there. */
  answerTo(requestId: string): Promise<unknown> {
    return new Promise((resolve) => this.#answers.set(requestId, resolve));
  }

  async #onRequest(id: Id, method: string, params: unknown): Promise<void> {
    this.asked.push([method, params]);
    const refusal = this.#refusals[method];
    if (refusal !== undefined) this.peer.replyError(id, { code: -32000, message: refusal });
    else this.peer.reply(id, RESULTS[method]);
    if (method === "turn.start") await this.#play(this);
    if (method === "approval.respond")
      this.#answers.get(String(Reflect.get(Object(params), "requestId")))?.(params);
  }
}

type Play = (server: Server) => void | Promise<void>;

const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    version: "1.0.0",
    capabilities: allTrue("threads", "turns", "approvals", "streaming", "persistence"),
  },
  "thread.create": { thread },
  "turn.start": { turnId: "u1" },
  "approval.respond": { ok: true },
};

function allTrue(...names: string[]): Record<string, boolean> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

function refuseToDecide(): Promise<HarnessDecision> {
  throw new Error("unexpected approval");
}

type Change = { decide?: HarnessClientOptions["decide"]; refusals?: Readonly<Record<string, string>> };

/** Runs the client against a server that plays, and gives what the user saw. */
async function run(play: Play, { decide = refuseToDecide, refusals = {} }: Change = {}) {
  const [client, other] = memoryPair();
  const server = new Server(other, play, refusals);
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  const code = await runHarnessClient({ transport: client, cwd: "/repo", prompt: "Test it", write, decide });
  return { code, text: written.join(""), asked: server.asked };
}

describe("the example client", () => {
  test("runs a prompt and prints text, commands and output", async () => {
    const { code, text, asked } = await run((server) => {
      server.started("user_message", "i0", { text: "Test it", content: [] });
      server.started("assistant_message", "i1", { text: "" });
      server.grown("assistant_message", "i1", "reasoning", "secret thoughts", 0);
      server.grown("assistant_message", "i1", "text", "I will ", 0);
      server.grown("assistant_message", "i1", "text", "test.", 7);
      server.completed("assistant_message", "i1", { text: "I will test." });
      server.started("tool_exec", "i2", { kind: "commandExecution", tool: "bash", command: "npm test" });
      server.started("tool_log", "i2.log", { toolItemId: "i2", output: "" });
      server.grown("tool_log", "i2.log", "output", "ok 1\n", 0);
      server.completed("tool_log", "i2.log", { toolItemId: "i2", output: "ok 1\nok 2\n" });
      server.completed("tool_exec", "i2", { kind: "commandExecution", tool: "bash", command: "npm test" });
      server.started("tool_exec", "i3", { kind: "fileChange", tool: "edit" });
      server.completed("artifact", "i3.artifact-1", { toolItemId: "i3", path: "/repo/a.ts", change: "add" });
      server.completed("artifact", "i3.artifact-2", {
        toolItemId: "i3",
        path: "/repo/b.ts",
        change: "modify",
      });
      server.completed("assistant_message", "i4", { text: "Done." });
      server.notice("turn.completed", { turn });
    });
    expect(text).toBe("I will test.\n$ npm test\nok 1\nok 2\n* edit\n+ /repo/a.ts\n~ /repo/b.ts\nDone.\n");
    expect(code).toBe(0);
    expect(asked).toEqual([
      ["initialize", { clientInfo: { name: "flint harness client" } }],
      ["thread.create", { directory: "/repo" }],
      ["turn.start", { threadId: "t1", input: [{ type: "text", text: "Test it" }] }],
    ]);
  });

  test("prints repeated pieces once, and items on lines of their own", async () => {
    const { text } = await run((server) => {
      server.grown("assistant_message", "i1", "text", "one ", 0);
      server.grown("assistant_message", "i1", "text", "one two", 0);
      server.grown("tool_log", "i2.log", "output", "ok", 0);
      server.grown("assistant_message", "i1", "text", " three", 7);
      server.notice("turn.completed", { turn });
    });
    expect(text).toBe("one two\nok\n three\n");
  });

  test("escapes control characters", async () => {
    const { text } = await run((server) => {
      server.grown("tool_log", "i2.log", "output", "a\u001b[2Jb\tc\r\nd\u009b1me\u007f\rf\n", 0);
      server.notice("turn.completed", { turn });
    });
    expect(text).toBe("a\\u{1b}[2Jb\tc\nd\\u{9b}1me\\u{7f}\\u{d}f\n");
  });

  test("ignores other threads, unknown shapes and other notifications", async () => {
    const { code, text } = await run((server) => {
      server.notice("turn.error", { turn: { ...turn, threadId: "t2" }, error: { message: "not ours" } });
      server.notice("item.delta", { itemId: 7 });
      server.peer.notify("thread.renamed", { threadId: "t1" });
      server.notice("turn.completed", { turn });
    });
    expect({ code, text }).toEqual({ code: 0, text: "" });
  });
});

describe("an approval in the example client", () => {
  test.each(["once", "always", "reject"] as const)(
    "is answered with %s as the user decides",
    async (word) => {
      const shown: unknown[] = [];
      const { code, asked } = await run(
        async (server) => {
          const answered = server.answerTo("t1.a1");
          server.requestApproval("t1.a1");
          await answered;
          server.notice("turn.completed", { turn });
        },
        {
          decide: async (request) => {
            shown.push(request);
            return word;
          },
        },
      );
      expect(code).toBe(0);
      expect(shown).toEqual([{ requestId: "t1.a1", ...ofTurn, itemId: "i1", action, expiresAt: 9 }]);
      expect(asked.at(-1)).toEqual(["approval.respond", { requestId: "t1.a1", decision: word }]);
    },
  );

  test("is rejected if the user cannot be asked", async () => {
    const { asked } = await run(
      async (server) => {
        const answered = server.answerTo("t1.a1");
        server.requestApproval("t1.a1");
        await answered;
        server.notice("turn.completed", { turn });
      },
      { decide: refuseToDecide },
    );
    expect(asked.at(-1)).toEqual(["approval.respond", { requestId: "t1.a1", decision: "reject" }]);
  });

  test("waits until the previous one is answered", async () => {
    let open = 0;
    let most = 0;
    const { asked } = await run(
      async (server) => {
        const answered = server.answerTo("t1.a2");
        server.requestApproval("t1.a1");
        server.requestApproval("t1.a2");
        await answered;
        server.notice("turn.completed", { turn });
      },
      {
        decide: async () => {
          open += 1;
          most = Math.max(most, open);
          await Promise.resolve();
          open -= 1;
          return "once";
        },
      },
    );
    expect(most).toBe(1);
    expect(asked.slice(-2)).toEqual([
      ["approval.respond", { requestId: "t1.a1", decision: "once" }],
      ["approval.respond", { requestId: "t1.a2", decision: "once" }],
    ]);
  });

  test("is withdrawn when another client has answered it", async () => {
    const { code, asked } = await run(
      async (server) => {
        const answered = server.answerTo("t1.a2");
        server.requestApproval("t1.a1");
        server.completed("approval", "t1.a1", { requestId: "t1.a1", toolItemId: "i1", decision: "reject" });
        server.requestApproval("t1.a2");
        await answered;
        server.notice("turn.completed", { turn });
      },
      {
        decide: (request) =>
          request.requestId === "t1.a2" ? Promise.resolve("once") : new Promise(() => {}),
      },
    );
    expect(code).toBe(0);
    expect(asked.at(-1)).toEqual(["approval.respond", { requestId: "t1.a2", decision: "once" }]);
    expect(asked).toHaveLength(4);
  });

  test("is withdrawn when the turn ends", async () => {
    const signals: AbortSignal[] = [];
    let asking = () => {};
    const { code } = await run(
      async (server) => {
        const asked = new Promise<void>((resolve) => {
          asking = resolve;
        });
        server.requestApproval("t1.a1");
        await asked;
        server.notice("turn.completed", { turn });
      },
      {
        decide: (_request, signal) => {
          signals.push(signal);
          asking();
          return new Promise(() => {});
        },
      },
    );
    expect(code).toBe(0);
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
  });

  test("warns if the answer came too late", async () => {
    const { text } = await run(
      async (server) => {
        const answered = server.answerTo("t1.a1");
        server.requestApproval("t1.a1");
        await answered;
        server.notice("turn.completed", { turn });
      },
      { decide: async () => "once", refusals: { "approval.respond": "it was answered already" } },
    );
    expect(text).toBe("warning: the answer was not accepted: it was answered already\n");
  });
});

describe("the example client fails", () => {
  test.each<[name: string, play: Play, message: string]>([
    [
      "when the turn fails",
      (server) =>
        server.notice("turn.error", { turn: { ...turn, status: "error" }, error: { message: "no credit" } }),
      "no credit",
    ],
    [
      "when the turn is cancelled",
      (server) => server.notice("turn.completed", { turn: { ...turn, status: "cancelled" } }),
      "the turn was cancelled",
    ],
    [
      "when the connection ends",
      (server) => server.peer.close(),
      "the connection closed before the turn ended",
    ],
  ])("%s", async (_name, play, message) => {
    const { code, text } = await run(play);
    expect({ code, text }).toEqual({ code: 1, text: `error: ${message}\n` });
  });

  test.each(["initialize", "thread.create", "turn.start"])("when %s is rejected", async (method) => {
    const { code, text, asked } = await run(() => {}, { refusals: { [method]: `no ${method} today` } });
    expect({ code, text }).toEqual({ code: 1, text: `error: no ${method} today\n` });
    expect(asked.at(-1)?.[0]).toBe(method);
  });
});

test("the example client answers requests with an error", async () => {
  let answer: unknown;
  await run(async (server) => {
    answer = await server.peer.request("fs/read", {}).catch((error: unknown) => error);
    server.notice("turn.completed", { turn });
  });
  expect(answer).toMatchObject({ code: -32601, message: "this client has no method fs/read" });
});
