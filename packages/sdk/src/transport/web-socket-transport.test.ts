import { describe, expect, test } from "vitest";
import { type WebSocketLike, webSocketTransport } from "./web-socket-transport.ts";

/** A WebSocket whose other side is the test. */
class FakeWebSocket implements WebSocketLike {
  readyState = 0;
  readonly sent: string[] = [];
  readonly #listeners: { type: string; listener: (event: { data: unknown }) => void }[] = [];

  send(text: string): void {
    this.sent.push(text);
  }

  close(): void {
    this.readyState = 3;
    this.happen("close");
  }

  addEventListener(type: string, listener: (event: { data: unknown }) => void): void {
    this.#listeners.push({ type, listener });
  }

  happen(type: "open" | "message" | "close", data?: unknown): void {
    if (type === "open") this.readyState = 1;
    for (const known of this.#listeners) if (known.type === type) known.listener({ data });
  }
}

function open() {
  const socket = new FakeWebSocket();
  const transport = webSocketTransport(socket);
  const received: string[] = [];
  transport.start({ chunk: (text) => received.push(String(text)), closed: () => received.push("closed") });
  return { socket, transport, received };
}

describe("a client over a WebSocket", () => {
  test("sends each line as a frame, including what was sent before the connection opened", () => {
    const { socket, transport } = open();
    transport.write('{"a":1}\n{"b":2}\n');
    expect(socket.sent).toEqual([]);
    socket.happen("open");
    transport.write('{"c":3}\n');
    expect(socket.sent).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  });

  test("receives each frame as one line, however it is written", () => {
    const { socket, received } = open();
    socket.happen("open");
    socket.happen("message", '{\n "a": 1\r\n}');
    expect(received).toEqual(['{  "a": 1  }\n']);
  });

  test("buffers what arrives while paused, and reports the close once, after all of it", () => {
    const { socket, transport, received } = open();
    transport.pause();
    socket.happen("message", "one");
    socket.happen("message", "two");
    socket.happen("close");
    expect(received).toEqual([]);
    transport.resume();
    transport.close();
    expect(received).toEqual(["one\n", "two\n", "closed"]);
  });

  test("sends nothing after the end", () => {
    const { socket, transport, received } = open();
    transport.close();
    transport.write("late\n");
    expect([socket.sent, received]).toEqual([[], ["closed"]]);
  });
});
