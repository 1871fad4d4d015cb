import { describe, expect, it } from "vitest";
import type { Id } from "./codec.ts";
import { cappedTrace, Peer, type PeerFault, type PeerHandlers, type PeerOptions } from "./peer.ts";
import { PeerClosedError, PeerTimeoutError, RemoteError } from "./pending-requests.ts";
import { memoryPair, type Transport } from "./transport.ts";

const IDLE: PeerHandlers = { request: () => {}, notification: () => {}, bad: () => {} };

function startPeer(
  transport: Transport,
  handlers: Partial<PeerHandlers>,
  rest: Partial<PeerOptions> = {},
): Peer {
  const options = { header: false, lineLimit: 100_000, queueLimit: 100_000, ...rest };
  const peer = new Peer(transport, { ...options, handlers: { ...IDLE, ...handlers } });
  peer.start();
  return peer;
}

/** A peer and the bare other end of its wire: the lines it writes, and a way to write to it. */
function againstWire(handlers: Partial<PeerHandlers> = {}, rest: Partial<PeerOptions> = {}) {
  const [near, far] = memoryPair();
  const written: string[] = [];
  far.start({ chunk: (text) => written.push(...String(text).trimEnd().split("\n")), closed: () => {} });
  const peer = startPeer(near, handlers, rest);
  return { peer, far, written, say: (...lines: string[]) => far.write(`${lines.join("\n")}\n`) };
}

/** Lets everything that is queued in microtasks happen. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("sending requests", () => {
  it("gets the result, in both directions at once, with separate ids", async () => {
    const [left, right] = memoryPair();
    const ids: Id[] = [];
    const answer = (peer: () => Peer): Partial<PeerHandlers> => ({
      request: (id, method, params) => {
        ids.push(id);
        peer().reply(id, { method, params });
      },
    });
    const a: Peer = startPeer(
      left,
      answer(() => a),
    );
    const b: Peer = startPeer(
      right,
      answer(() => b),
      { header: true },
    );
    const results = await Promise.all([
      a.request("from/a", { n: 1 }),
      b.request("from/b"),
      a.request("again", []),
    ]);
    expect(results).toEqual([
      { method: "from/a", params: { n: 1 } },
      { method: "from/b" },
      { method: "again", params: [] },
    ]);
    expect(ids.toSorted()).toEqual([0, 0, 1]);
  });

  it("rejects with the code and the data of the other side's error", async () => {
    const { peer, say } = againstWire();
    const failed = peer.request("m");
    say('{"id":0,"error":{"code":-32002,"message":"busy","data":{"turn":"t1"}}}');
    const error = await failed.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RemoteError);
    expect(error).toMatchObject({ code: -32002, message: "busy", data: { turn: "t1" }, method: "m" });
  });

  it("rejects everything pending at once when the other side goes away", async () => {
    const { peer, far } = againstWire();
    const pending = [peer.request("a"), peer.request("b")];
    await settled();
    far.close();
    const errors = await Promise.all(pending.map((request) => request.catch((reason: unknown) => reason)));
    expect(errors.every((error) => error instanceof PeerClosedError)).toBe(true);
    expect(await peer.closed).toBeUndefined();
    await expect(peer.request("late")).rejects.toThrow(PeerClosedError);
  });

  it("rejects everything pending at once when it is closed, with the reason", async () => {
    const { peer } = againstWire();
    const pending = peer.request("a");
    const reason = new Error("too slow");
    peer.close(reason);
    peer.close(new Error("second"));
    await expect(pending).rejects.toMatchObject({
      name: "PeerClosedError",
      cause: reason,
      message: 'the connection closed before "a" was answered: too slow',
    });
    expect(await peer.closed).toBe(reason);
  });

  it("gives up after its timeout, and ignores a late answer", async () => {
    const orphans: Id[] = [];
    const { peer, say } = againstWire({ orphan: (id) => orphans.push(id) });
    const error = await peer.request("slow", {}, { timeoutMs: 1 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PeerTimeoutError);
    expect(error).toMatchObject({ method: "slow", timeoutMs: 1 });
    say('{"id":0,"result":1}');
    await settled();
    expect(orphans).toEqual([0]);
  });

  it("gives up when its signal aborts, before or after it was sent", async () => {
    const { peer, written } = againstWire();
    const controller = new AbortController();
    const pending = peer.request("m", {}, { signal: controller.signal, timeoutMs: 2 ** 40 });
    controller.abort(new Error("changed my mind"));
    await expect(pending).rejects.toThrow("changed my mind");
    await expect(peer.request("never", {}, { signal: controller.signal })).rejects.toThrow("changed my mind");
    await settled();
    expect(written).toEqual(['{"id":0,"method":"m","params":{}}']);
  });

  it("takes only the first of two answers", async () => {
    const orphans: Id[] = [];
    const { peer, say } = againstWire({ orphan: (id) => orphans.push(id) });
    const answer = peer.request("m");
    say('{"id":0,"result":"first"}', '{"id":0,"result":"second"}', '{"id":"0","result":"third"}');
    expect(await answer).toBe("first");
    await settled();
    expect(orphans).toEqual([0, "0"]);
  });

  it("rejects when the answer is unusable, and does not report it as a bad line", async () => {
    const bad: PeerFault[] = [];
    const { peer, say } = againstWire({ bad: (fault) => bad.push(fault) });
    const empty = peer.request("empty");
    const deep = peer.request("deep");
    say('{"id":0}', `{"id":1,"result":${"[".repeat(300)}${"]".repeat(300)}}`);
    await expect(empty).rejects.toMatchObject({ code: -32600, method: "empty" });
    await expect(deep).rejects.toThrow("nested deeper");
    expect(bad).toEqual([]);
  });

  it("does not take a bad request for an answer, though the ids are equal", async () => {
    const bad: PeerFault[] = [];
    const { peer, say } = againstWire({ bad: (fault) => bad.push(fault) });
    const answer = peer.request("m");
    say('{"id":0,"method":5}', '{"id":0,"result":"good"}');
    expect(await answer).toBe("good");
    expect(bad).toMatchObject([{ id: 0, fault: "invalid" }]);
  });

  it("rejects values that JSON cannot represent, and continues", async () => {
    const { peer, say } = againstWire();
    await expect(peer.request("m", { big: 1n })).rejects.toThrow(TypeError);
    const next = peer.request("m");
    say('{"id":0,"result":1}');
    expect(await next).toBe(1);
  });
});

describe("receiving", () => {
  it("hands over messages in order and ends each batch", async () => {
    const seen: string[] = [];
    const { say } = againstWire(
      {
        request: (id, method) => {
          seen.push(`request ${id} ${method}`);
        },
        notification: (method) => {
          seen.push(method);
        },
        bad: ({ fault, bytes, limit }) => seen.push(`${fault} ${bytes} ${limit}`),
        batchEnd: () => seen.push("end"),
      },
      { lineLimit: 40 },
    );
    say('{"method":"one"}', '{"id":1,"method":"two"}', "?", "x".repeat(41), '{"method":"three"}');
    await settled();
    expect(seen).toEqual([
      "one",
      "request 1 two",
      "parse undefined undefined",
      "oversize 41 40",
      "three",
      "end",
    ]);
  });

  it("continues after a handler throws or rejects, and reports which one", async () => {
    const crashes: string[] = [];
    const seen: string[] = [];
    const { say } = againstWire({
      request: async (_, method) => Promise.reject(new Error(method)),
      notification: (method) => {
        if (method === "bomb") throw new Error("boom");
        seen.push(method);
      },
      bad: () => {
        throw new Error("bad");
      },
      batchEnd: () => {
        throw new Error("batch");
      },
      crashed: (error, where) => {
        crashes.push(`${where}: ${error instanceof Error ? error.message : error}`);
        throw new Error("crashed, too");
      },
    });
    say('{"method":"bomb"}', '{"id":1,"method":"ask"}', "?", '{"method":"after"}');
    await settled();
    expect(seen).toEqual(["after"]);
    expect(crashes.toSorted()).toEqual(["ask: ask", "bad: bad", "batchEnd: batch", "bomb: boom"]);
  });

  it("delivers nothing more once a handler has closed it", async () => {
    const seen: string[] = [];
    const { peer, say } = againstWire({
      notification: (method) => {
        seen.push(method);
        peer.close();
      },
    });
    say('{"method":"one"}', '{"method":"two"}', "?");
    await settled();
    expect(seen).toEqual(["one"]);
  });

  it("delivers a last line without its end, and may still answer it", async () => {
    const [near, far] = memoryPair();
    const answers: string[] = [];
    const halfOpen: Transport = { ...passThrough(near), write: (text) => answers.push(text) > 0 };
    const peer = startPeer(halfOpen, {
      request: async (id) => {
        await peer.closed;
        peer.reply(id, "late");
      },
    });
    far.write('{"id":1,"method":"m"}');
    far.close();
    await peer.closed;
    await settled();
    expect(answers).toEqual(['{"id":1,"result":"late"}\n']);
  });

  function passThrough(transport: Transport): Transport {
    return {
      start: (receiver) => transport.start(receiver),
      write: (text) => transport.write(text),
      onDrain: (listener) => transport.onDrain(listener),
      pause: () => transport.pause(),
      resume: () => transport.resume(),
      close: () => transport.close(),
    };
  }
});

describe("a peer that does not read", () => {
  it("is not read from until it reads again, so its flood is bounded, and nothing is lost", async () => {
    const queueLimit = 2000;
    const padding = "p".repeat(80);
    let handled = 0;
    const { peer, far, written } = againstWire(
      {
        request: (id) => {
          handled += 1;
          peer.reply(id, padding);
        },
      },
      { queueLimit },
    );
    far.pause();
    const total = 500;
    for (let id = 0; id < total; id += 1) {
      far.write(`{"id":${id},"method":"m"}\n`);
      await settled();
    }
    expect(peer.outbox.full).toBe(true);
    expect(handled).toBeLessThan(total / 2);
    expect(peer.outbox.size).toBeLessThan(queueLimit + 200);
    far.resume();
    await settled();
    await peer.outbox.flushed();
    expect(written).toHaveLength(total);
    expect(written.map((line) => JSON.parse(line).id)).toEqual(Array.from({ length: total }, (_, id) => id));
  });

  it("does not keep a closed peer waiting", async () => {
    const { peer, far } = againstWire({}, { queueLimit: 100 });
    far.pause();
    for (let sent = 0; sent < 10; sent += 1) peer.notify("m", { text: "some text" });
    await settled();
    expect(peer.outbox.full).toBe(true);
    const flushed = peer.outbox.flushed();
    far.close();
    await flushed;
    expect(await peer.closed).toBeUndefined();
  });
});

describe("the trace", () => {
  it("shows lines both ways, what they were taken for, and failures", async () => {
    const seen: string[] = [];
    const { peer, say } = againstWire(
      { notification: () => Promise.reject(new Error("oops")) },
      { trace: (...entry) => seen.push(entry.join(" ")), lineLimit: 30 },
    );
    peer.notify("hello");
    say('{"method":"n"}', "?", "y".repeat(31), '{"id":5,"result":1}', '{"id":null,"error":"x"}');
    await settled();
    expect(seen).toEqual([
      'out raw {"method":"hello"}',
      'in raw {"method":"n"}',
      "in decoded notification n",
      "in raw ?",
      "in failed the line is not valid JSON",
      "in failed the line has 31 bytes, more than the limit of 30",
      'in raw {"id":5,"result":1}',
      "in decoded response to 5",
      'in raw {"id":null,"error":"x"}',
      "in decoded failure of null: -32603 x",
      "in failed the handler of n threw: Error: oops",
    ]);
  });
});

it("passes short payloads on as they are", () => {
  const seen: string[][] = [];
  const trace = cappedTrace((...entry) => seen.push(entry), { maxLine: 10, maxTotal: 100 });
  trace("in", "raw", "short");
  trace("out", "failed", "0123456789");
  expect(seen).toEqual([
    ["in", "raw", "short"],
    ["out", "failed", "0123456789"],
  ]);
});

it("cuts a long payload and appends its length [S4-50]", () => {
  const seen: string[] = [];
  const trace = cappedTrace((_direction, _stage, payload) => seen.push(payload), {
    maxLine: 4,
    maxTotal: 100,
  });
  trace("in", "raw", "0123456789");
  expect(seen).toEqual(["0123 [cut: 10 characters in all]"]);
});

it("stops at the total and reports it once [S4-50]", () => {
  const seen: string[] = [];
  const trace = cappedTrace((_direction, _stage, payload) => seen.push(payload), {
    maxLine: 5,
    maxTotal: 10,
  });
  for (const payload of ["aaaaa", "bbbbb", "ccccc", "ddddd"]) trace("in", "raw", payload);
  expect(seen).toEqual(["aaaaa", "bbbbb", "[trace stops here: 10 characters traced]"]);
});
