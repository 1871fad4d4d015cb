import { FlintError } from "@flint/protocol";
import { RemoteError, type RequestOptions } from "@flint/rpc";
import { settled } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { type Ask, ClientAsks, type ClientAsksOptions } from "./client-asks.ts";
import type { Client } from "./frontend.ts";

/** A request that the client was sent, and how the test answers it. */
interface Sent {
  readonly method: string;
  readonly options: RequestOptions;
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

/** A client whose answers come from the test; it records what the core is called with. */
class AskedClient implements Client {
  readonly sent: Sent[] = [];
  readonly calls: unknown[] = [];
  isAlone = true;
  coreError: FlintError | undefined;
  readonly core: Client["core"] = {
    call: async (method, params) => {
      this.calls.push([method, params]);
      if (this.coreError !== undefined) throw this.coreError;
      // Responses have an empty result.
      return {} as never;
    },
  };

  introduce(): void {}

  request(method: string, _params: object, options: RequestOptions = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.sent.push({ method, options, resolve, reject });
      options.signal?.addEventListener("abort", () => reject(options.signal?.reason));
    });
  }

  notify(): void {}
  sendLine(): void {}
  provideHost(): void {}
  isSubscribed = () => true;
  isOnlySubscriber = () => this.isAlone;
}

const respond = (answer: unknown) => ({
  method: "question/respond" as const,
  params: { threadId: "t", questionId: "q", answers: { a: { answers: [String(answer)] } } },
});

function ask(key: string, threadId = "t"): Ask {
  return {
    kind: "ask",
    key,
    threadId,
    method: `ask ${key}`,
    params: {},
    answered: respond,
    refused: respond,
  };
}

function asked(options: ClientAsksOptions = {}) {
  const client = new AskedClient();
  return { client, asks: new ClientAsks(client, options) };
}

const given = (answer: string) => ["question/respond", expect.objectContaining(respond(answer).params)];

describe("a client", () => {
  test("is asked once under a key, and its answer becomes a call of the core", async () => {
    const { client, asks } = asked();
    asks.ask(ask("a"));
    asks.ask(ask("a"));
    asks.ask(ask("b"));
    expect(client.sent.map(({ method, options }) => [method, options.id])).toEqual([
      ["ask a", 0],
      ["ask b", 1],
    ]);
    client.sent[0]?.resolve("yes");
    await settled();
    expect(client.calls).toEqual([given("yes")]);
  });

  test("is asked one step after the other, until an answer is a call", async () => {
    const { client, asks } = asked();
    const second = { method: "second", params: {}, answered: (answer: unknown) => respond(answer) };
    asks.ask({ ...ask("a"), answered: () => second });
    client.sent[0]?.resolve("one");
    await settled();
    client.sent[1]?.resolve("two");
    await settled();
    expect(client.sent.map(({ method, options }) => [method, options.id])).toEqual([
      ["ask a", 0],
      ["second", 1],
    ]);
    expect(client.calls).toEqual([given("two")]);
  });

  test("that has not answered has its request withdrawn when another client answers", async () => {
    const withdrawn: unknown[] = [];
    const resolved: unknown[] = [];
    const { client, asks } = asked({
      requestId: () => 42,
      onWithdrawn: ({ id, threadId }) => withdrawn.push([id, threadId]),
      onResolved: ({ id, threadId }) => resolved.push([id, threadId]),
    });
    asks.ask(ask("a"));
    asks.resolve("a");
    asks.resolve("a");
    await settled();
    expect({ withdrawn, resolved, calls: client.calls }).toEqual({
      withdrawn: [[42, "t"]],
      resolved: [[42, "t"]],
      calls: [],
    });
  });

  test("that answers after its request was withdrawn has its answer passed on, once and without a further step", async () => {
    const hooks: string[] = [];
    const { client, asks } = asked({ onResolved: () => hooks.push("resolved") });
    const second = { method: "second", params: {}, answered: respond };
    asks.ask(ask("a"));
    asks.ask({ ...ask("b"), answered: () => second });
    for (const key of ["a", "b"]) asks.resolve(key);
    for (const request of client.sent) request.resolve("late");
    await settled();
    expect(client.calls).toEqual([given("late")]);
    expect(client.sent).toHaveLength(2);
    expect(hooks).toEqual(["resolved", "resolved"]);
  });

  test("that does not answer withdrawn requests is not waited for endlessly", async () => {
    const { client, asks } = asked();
    for (let number = 0; number < 40; number += 1) {
      asks.ask(ask(String(number)));
      asks.resolve(String(number));
    }
    const isAborted = () => client.sent.map(({ options }) => options.signal?.aborted === true);
    expect(isAborted().filter(Boolean)).toHaveLength(8);
    expect(isAborted()[7]).toBe(true);
    asks.forget("t");
    expect(isAborted().every(Boolean)).toBe(true);
    await settled();
    expect(client.calls).toEqual([]);
  });

  test("that has answered is only notified that it is resolved", async () => {
    const hooks: string[] = [];
    const { client, asks } = asked({
      onWithdrawn: () => hooks.push("withdrawn"),
      onResolved: () => hooks.push("resolved"),
    });
    asks.ask(ask("a"));
    client.sent[0]?.resolve("yes");
    await settled();
    asks.resolve("a");
    expect(hooks).toEqual(["resolved"]);
  });

  test("that cannot answer refuses, unless another client can answer", async () => {
    const { client, asks } = asked();
    const error = new RemoteError("ask a", { code: -32601, message: "no such method" });
    asks.ask(ask("a"));
    client.sent[0]?.reject(error);
    await settled();
    client.isAlone = false;
    asks.ask(ask("b"));
    client.sent[1]?.reject(error);
    await settled();
    expect(client.calls).toEqual([given("The client cannot answer: no such method")]);
  });

  test("is asked again after an answer that had no effect", async () => {
    const { client, asks } = asked();
    client.coreError = new FlintError("storageFailed", "The disk is full.");
    asks.ask(ask("a"));
    client.sent[0]?.resolve("yes");
    await settled();
    asks.ask(ask("a"));
    expect(client.sent).toHaveLength(2);
  });

  test("is no longer asked in a thread that it leaves, or after it disconnects", async () => {
    const withdrawn: number[] = [];
    const { client, asks } = asked({ onWithdrawn: ({ id }) => withdrawn.push(id) });
    for (const [key, threadId] of [
      ["a", "t"],
      ["b", "other"],
      ["c", "t"],
    ] as const) {
      asks.ask(ask(key, threadId));
    }
    asks.forget("t");
    expect(withdrawn).toEqual([0, 2]);
    asks.ask(ask("a"));
    expect(client.sent).toHaveLength(4);
    asks.forgetAll();
    expect(withdrawn).toEqual([0, 2, 1, 3]);
    await settled();
    expect(client.calls).toEqual([]);
  });
});
