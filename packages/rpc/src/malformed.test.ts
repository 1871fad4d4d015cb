import { Buffer } from "node:buffer";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { LineReader } from "./lines.ts";
import { streamTransport } from "./node/streams.ts";
import { Peer } from "./peer.ts";

const CODES = { parse: -32700, encoding: -32700, invalid: -32600, oversize: -32600 } as const;
const LINE_LIMIT = 1_000_000;

/** A small server over a byte stream that knows one method, the way an owner of a peer answers. */
class TinyServer {
  readonly replies: unknown[] = [];
  readonly #input = new PassThrough();
  readonly #waiting: (() => void)[] = [];

  constructor() {
    const output = new PassThrough();
    const reader = new LineReader({
      limit: LINE_LIMIT,
      line: (text) => this.#onReply(JSON.parse(text)),
      fault: (fault) => this.replies.push(fault),
    });
    output.on("data", (chunk) => reader.push(chunk));
    const peer: Peer = new Peer(streamTransport(this.#input, output), {
      header: false,
      lineLimit: LINE_LIMIT,
      queueLimit: 8_000_000,
      handlers: {
        request: (id, method, params) =>
          method === "ping"
            ? peer.reply(id, params ?? "pong")
            : peer.replyError(id, { code: -32601, message: "unknown method" }),
        notification: () => {},
        bad: ({ id, fault, message }) => peer.replyError(id, { code: CODES[fault], message }),
      },
    });
    peer.start();
  }

  send(bytes: Uint8Array | string): void {
    this.#input.write(bytes);
  }

  /** Everything answered up to and including a ping sent now: the server lives and has read all before it. */
  async repliesSoFar(): Promise<unknown[]> {
    const answered = new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.send('{"id":"alive","method":"ping"}\n');
    await answered;
    return this.replies.splice(0);
  }

  #onReply(reply: { id?: unknown }): void {
    if (reply.id === "alive") this.#waiting.shift()?.();
    else this.replies.push(reply);
  }
}

const bytes = (...values: number[]) => Buffer.from([...values, 10]);
const failure = (code: number, id: unknown = null) => [{ id, error: { code, message: expect.any(String) } }];
const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

const KINDS: [name: string, input: Uint8Array | string, replies: unknown[]][] = [
  ["text that is not JSON", "hello there\n", failure(-32700)],
  ["truncated JSON", '{"id":1,"method":"ping"\n', failure(-32700)],
  ["an empty array", "[]\n", failure(-32600)],
  ["null", "null\n", failure(-32600)],
  ["a number", "42\n", failure(-32600)],
  ["a string", '"s"\n', failure(-32600)],
  ["an empty object", "{}\n", failure(-32600)],
  ["an object as id", '{"id":{"a":1},"method":"x"}\n', failure(-32601, { a: 1 })],
  ["a fraction as id", '{"id":1.5,"method":"x"}\n', failure(-32601, 1.5)],
  ["2^70 as id", '{"id":1180591620717411303424,"method":"x"}\n', failure(-32601, 2 ** 70)],
  ["two ids", '{"id":1,"id":2,"method":"x"}\n', failure(-32601, 2)],
  ["a number as method", '{"id":3,"method":5}\n', failure(-32600, 3)],
  ["a string as params", '{"id":4,"method":"ping","params":"p"}\n', failure(-32600, 4)],
  ["invalid UTF-8", bytes(0x7b, 0xff, 0xfe, 0x7d), failure(-32700)],
  ["a byte order mark", '\uFEFF{"id":5,"method":"x"}\n', failure(-32601, 5)],
  ["a carriage return", '{"id":6,"method":"x"}\r\n', failure(-32601, 6)],
  ["blank lines", "\n\r\n   \n", []],
  ["control bytes", bytes(0x00, 0x01, 0x1b, 0x5b), failure(-32700)],
  ["a batch", '[{"id":1,"method":"ping"},{"id":2,"method":"ping"}]\n', failure(-32600)],
  ["a result without a request", '{"id":99,"result":{}}\n', []],
  ["2,000 levels", `{"id":7,"method":"ping","params":${nested(2000)}}\n`, failure(-32600, 7)],
  ["100,000 levels", `{"id":8,"method":"ping","params":${nested(100_000)}}\n`, failure(-32600, 8)],
  [
    "prototype keys",
    '{"id":9,"method":"x","params":{"__proto__":{"p":1},"constructor":{"prototype":{"p":1}}}}\n',
    failure(-32601, 9),
  ],
  ["an unknown method", '{"id":10,"method":"toString"}\n', failure(-32601, 10)],
];

describe("malformed input", () => {
  it.each(KINDS)("%s gets one answer, and the connection stays open", async (_name, input, replies) => {
    const server = new TinyServer();
    server.send(input);
    expect(await server.repliesSoFar()).toEqual(replies);
    expect("p" in {}).toBe(false);
  });

  it("gets the same answers when all kinds arrive on one connection, in one chunk or byte by byte", async () => {
    const wire = Buffer.concat(KINDS.map(([, input]) => Buffer.from(input)));
    const expected = KINDS.flatMap(([, , replies]) => replies);
    const atOnce = new TinyServer();
    atOnce.send(wire);
    expect(await atOnce.repliesSoFar()).toEqual(expected);
    const inPieces = new TinyServer();
    for (let start = 0; start < wire.length; start += 997) inPieces.send(wire.subarray(start, start + 997));
    expect(await inPieces.repliesSoFar()).toEqual(expected);
  });

  it("is answered line by line in a burst of 10,000", async () => {
    const server = new TinyServer();
    server.send(Buffer.concat(Array.from({ length: 5000 }, () => Buffer.from([0x78, 10, 0xff, 10]))));
    expect(await server.repliesSoFar()).toHaveLength(10_000);
  });

  it("of 50 MB in one line is refused with its size and does not stay in memory", async () => {
    const server = new TinyServer();
    const megabyte = Buffer.alloc(1_000_000, "x");
    for (let sent = 0; sent < 50; sent += 1) server.send(megabyte);
    server.send("\n");
    const [reply] = await server.repliesSoFar();
    expect(reply).toMatchObject({
      id: null,
      error: { code: -32600, message: expect.stringContaining("50000000") },
    });
  });

  it("echoes an id of 2^70 with all its digits", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const peer: Peer = new Peer(streamTransport(input, output), {
      header: false,
      lineLimit: 1000,
      queueLimit: 1000,
      handlers: { request: (id) => peer.reply(id, null), notification: () => {}, bad: () => {} },
    });
    peer.start();
    const reply = new Promise((resolve) => output.once("data", (chunk) => resolve(String(chunk))));
    input.write('{"id":1180591620717411303424,"method":"m"}\n');
    expect(await reply).toBe('{"id":1180591620717411303424,"result":null}\n');
  });

  it("treats keys such as constructor as plain data", async () => {
    const server = new TinyServer();
    const params = '{"toJSON":"x","then":"y","constructor":{"prototype":{"polluted":1}},"hasOwnProperty":1}';
    server.send(`{"id":1,"method":"ping","params":${params}}\n`);
    expect(await server.repliesSoFar()).toEqual([{ id: 1, result: JSON.parse(params) }]);
    expect("polluted" in {}).toBe(false);
  });
});
