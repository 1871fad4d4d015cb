import { createServer as createHttpServer } from "node:http";
import { connect, createServer, type Socket } from "node:net";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { parseHostRule } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { Dialer, type Resolve } from "./dial.ts";
import { type AskUser, HostGate } from "./host-gate.ts";
import { FilteringProxy } from "./proxy.ts";
import { listen } from "./testing/internet.ts";

interface Setup {
  readonly allow?: readonly string[];
  readonly ask?: AskUser;
  readonly resolve?: Resolve;
  readonly clock?: TestClock;
}

/** A proxy with the gate of a thread, in front of a server that records the requests that reach it. */
async function setUp({ allow = [], ask, resolve = async () => ["93.184.216.34"], clock }: Setup) {
  const reached: string[] = [];
  const dialled: (readonly string[])[] = [];
  const upstream = createHttpServer((request, response) => {
    reached.push(`${request.method} ${request.headers.host}${request.url}`);
    response.end("reached");
  });
  const upstreamPort = await listen(upstream);
  const rules = allow.map((rule) => {
    const parsed = parseHostRule(rule);
    if (!parsed.ok) throw new Error(parsed.reason);
    return parsed.value;
  });
  let holding = 0;
  const gate = new HostGate({
    onHeld: () => {
      holding += 1;
    },
    clock: clock ?? SYSTEM_CLOCK,
    allow: rules,
    ...(ask === undefined ? {} : { ask }),
  });
  const proxy = new FilteringProxy({
    clock: SYSTEM_CLOCK,
    dialer: new Dialer({
      resolve,
      connect: (addresses) => {
        dialled.push(addresses);
        return connect(upstreamPort, "127.0.0.1");
      },
    }),
    decide: (request) => gate.decide(request),
    commandOf: () => undefined,
    onEvent: () => undefined,
  });
  const listener = createServer({ allowHalfOpen: true });
  proxy.serve(listener);
  const port = await listen(listener);
  onTestFinished(() => {
    proxy.dispose();
    gate.close();
    upstream.close();
  });
  return { port, reached, dialled, held: () => holding };
}

function open(port: number, text: string): { readonly socket: Socket; readonly answer: Promise<string> } {
  const socket = connect(port, "127.0.0.1");
  let received = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    received += chunk;
  });
  const answer = new Promise<string>((resolve) =>
    socket.on("error", () => undefined).once("close", () => resolve(received)),
  );
  socket.write(text, "latin1");
  return { socket, answer };
}

const HEAD = "HTTP/1.1\r\nhost: allowed.example\r\n";
const CLOSE = `${HEAD}connection: close\r\n\r\n`;

test("holds a hundred connections at once for one question, and then lets all of them continue", async () => {
  let answer: Parameters<AskUser>[0] | undefined;
  let allowAll = () => {};
  const ask: AskUser = (question) => {
    expect(answer).toBeUndefined();
    answer = question;
    return new Promise((resolve) => {
      allowAll = () => resolve({ decision: "allow", scope: "thread" });
    });
  };
  const { port, held, reached } = await setUp({ ask });
  const waiting = Array.from({ length: 100 }, () => open(port, `GET http://new.example/ ${CLOSE}`));
  await expect.poll(held).toBe(100);
  allowAll();
  const answers = await Promise.all(waiting.map((each) => each.answer));
  expect(answers.filter((text) => text.startsWith("HTTP/1.1 200"))).toHaveLength(100);
  expect(reached).toHaveLength(100);
});

test("answers 403 after 60 s, and lets the next attempt through once the user has allowed the host", async () => {
  const clock = new TestClock();
  let allow = () => {};
  const ask: AskUser = () =>
    new Promise((resolve) => {
      allow = () => resolve({ decision: "allow", scope: "thread" });
    });
  const { port, reached } = await setUp({ ask, clock });
  const held = open(port, `GET http://new.example/ ${CLOSE}`);
  await expect.poll(() => clock.pending).toBeGreaterThan(0);
  await clock.advance(60_000);
  expect(await held.answer).toMatch(/^HTTP\/1\.1 403 .*x-proxy-error: unanswered.*next attempt/s);
  allow();
  expect(await open(port, `GET http://new.example/ ${CLOSE}`).answer).toMatch(/^HTTP\/1\.1 200/);
  expect(reached).toHaveLength(1);
});

test("passes on nothing that is smuggled behind a CONNECT that is refused", async () => {
  const { port, reached, dialled } = await setUp({ allow: ["allowed.example"] });
  const smuggled = `CONNECT denied.example:443 ${HEAD}\r\nGET http://allowed.example/smuggled ${CLOSE}`;
  const answer = await open(port, smuggled).answer;
  expect(answer).toMatch(/^HTTP\/1\.1 403/);
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toHaveLength(1);
  expect([reached, dialled]).toEqual([[], []]);
});

test.each([
  ["a second length", "content-length: 5\r\ncontent-length: 60\r\n"],
  ["a length beside chunks", "content-length: 5\r\ntransfer-encoding: chunked\r\n"],
  ["chunks under another name", "transfer-encoding: xchunked\r\n"],
  ["a folded header", "x: a\r\n transfer-encoding: chunked\r\n"],
  ["a bare line feed", "x: a\ncontent-length: 5\r\n"],
])("does not take %s for the start of another request", async (_name, headers) => {
  const { port, reached } = await setUp({ allow: ["allowed.example"] });
  const hidden = `GET http://allowed.example/hidden ${CLOSE}`;
  const text = `POST http://allowed.example/first ${HEAD}${headers}\r\n0\r\n\r\n${hidden}`;
  const { answer, socket } = open(port, text);
  socket.end();
  await answer;
  expect(reached.filter((request) => request.includes("hidden"))).toEqual([]);
});

test("sends the host that was decided about, whatever the header says", async () => {
  const { port, reached } = await setUp({ allow: ["allowed.example"] });
  const text = "GET http://allowed.example/ HTTP/1.1\r\nhost: denied.example\r\nconnection: close\r\n\r\n";
  await open(port, text).answer;
  expect(reached).toEqual(["GET allowed.example/"]);
});

test("dials the address that it checked, though the name leads elsewhere the next time", async () => {
  const answers = [["93.184.216.34"], ["127.0.0.1"], ["169.254.169.254"]];
  const { port, dialled } = await setUp({
    allow: ["rebinding.example"],
    resolve: async () => answers.shift() ?? ["10.0.0.1"],
  });
  const get = () => open(port, `GET http://rebinding.example/ ${CLOSE}`).answer;
  expect(await get()).toMatch(/^HTTP\/1\.1 200/);
  expect(await get()).toMatch(/^HTTP\/1\.1 403 .*x-proxy-error: private-address/s);
  expect(await get()).toMatch(/^HTTP\/1\.1 403/);
  expect(dialled).toEqual([["93.184.216.34"]]);
});

test("does not lead to itself, or to a proxy of the user's machine", async () => {
  const { port, dialled } = await setUp({ allow: ["allowed.example"] });
  for (const target of ["localhost:3128", `localhost:${port}`, "127.0.0.1:3128", "proxy.localhost:3128"]) {
    expect(await open(port, `CONNECT ${target} ${HEAD}\r\n`).answer).toMatch(/^HTTP\/1\.1 40[03]/);
  }
  expect(dialled).toEqual([]);
});

test("does not switch to another protocol without a tunnel", async () => {
  const { port, reached } = await setUp({ allow: ["allowed.example"] });
  const upgrade = `GET http://allowed.example/ ${HEAD}connection: upgrade\r\nupgrade: websocket\r\nconnection: close\r\n\r\n`;
  expect(await open(port, upgrade).answer).not.toMatch(/^HTTP\/1\.1 101/);
  expect(reached.every((request) => request === "GET allowed.example/")).toBe(true);
});
