import { describe, expect, test } from "vitest";
import { bindable, isLoopback, isNumeric, parseAddress } from "./address.ts";

describe("--listen", () => {
  test.each([
    ["stdio", { kind: "stdio" }],
    ["stdio://", { kind: "stdio" }],
    ["unix:/run/flint.sock", { kind: "unix", path: "/run/flint.sock" }],
    ["unix:///run/flint.sock", { kind: "unix", path: "/run/flint.sock" }],
    ["unix:flint.sock", { kind: "unix", path: `${process.cwd()}/flint.sock` }],
    ["ws://127.0.0.1:4747", { kind: "webSocket", host: "127.0.0.1", port: 4747 }],
    ["ws://LOCALHOST:0/", { kind: "webSocket", host: "localhost", port: 0 }],
    ["ws://[::1]:80", { kind: "webSocket", host: "[::1]", port: 80 }],
  ])("parses %s", (text, address) => {
    expect(parseAddress(text)).toEqual({ ok: true, address });
  });

  test.each([
    "4747",
    "127.0.0.1:4747",
    "ws://127.0.0.1",
    "ws://127.0.0.1:99999",
    "ws://user:pass@127.0.0.1:1",
    "ws://127.0.0.1:1/path",
    "ws://:1",
    "http://127.0.0.1:1",
    "unix:",
    "unix:a\0b",
    "",
  ])("rejects %j with a hint", (text) => {
    const reading = parseAddress(text);
    expect(reading).toMatchObject({ ok: false, reason: expect.stringMatching(/(Use|Add) /) });
  });

  test("points to a proxy for TLS", () => {
    expect(parseAddress("wss://127.0.0.1:1")).toMatchObject({ reason: expect.stringContaining("proxy") });
  });
});

test("only loopback addresses and localhost are loopback", () => {
  const own = ["127.0.0.1", "127.9.9.9", "localhost", "[::1]", "::1"];
  const foreign = [
    "0.0.0.0",
    "[::]",
    "192.168.0.1",
    "localhost.evil.org",
    "127.0.0.1.evil.org",
    "127.evil.org",
  ];
  expect(own.filter((host) => !isLoopback(host))).toEqual([]);
  expect(foreign.filter(isLoopback)).toEqual([]);
  expect([bindable("localhost"), bindable("[::1]")]).toEqual(["127.0.0.1", "::1"]);
  expect(["10.0.0.1", "[fe80::1]", "fe80::1", "evil.org"].map(isNumeric)).toEqual([true, true, false, false]);
});
