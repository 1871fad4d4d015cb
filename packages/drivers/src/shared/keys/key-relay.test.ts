import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { KeyRelay } from "./key-relay.ts";

/** A model at an address, with what it answers. */
async function model(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<URL> {
  const server = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return new URL(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/base`);
}

const KEY_HEADERS = ["X-Api-Key", "authorization"];

async function relayTo(upstream: URL): Promise<KeyRelay> {
  const relay = await KeyRelay.open(upstream);
  onTestFinished(() => relay.close());
  return relay;
}

/** Answers with what it was sent. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  response.writeHead(201, { "x-limit": "7" });
  response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
}

test("puts the key in the place of its stand-in, and changes nothing else", async () => {
  const upstream = await model(echo);
  const relay = await relayTo(upstream);
  const [key, token] = [relay.standIn("the-key", KEY_HEADERS), relay.standIn("the-token", KEY_HEADERS)];
  const headers = { "x-api-key": key, authorization: `Bearer ${token}`, "x-other": "1" };
  const answer = await fetch(`${relay.address}/v1/messages?beta=true`, {
    method: "POST",
    headers,
    body: key,
  });
  expect([answer.status, answer.headers.get("x-limit")]).toEqual([201, "7"]);
  expect(await answer.json()).toMatchObject({
    ...{ method: "POST", url: "/base/v1/messages?beta=true", body: key },
    headers: {
      ...{ "x-api-key": "the-key", authorization: "Bearer the-token", "x-other": "1" },
      host: upstream.host,
    },
  });
});

test("has no key for the stand-in of another relay", async () => {
  const upstream = await model(echo);
  const standIn = (await relayTo(upstream)).standIn("the-key", KEY_HEADERS);
  const answer = await fetch((await relayTo(upstream)).address, { headers: { "x-api-key": standIn } });
  expect(await answer.json()).toMatchObject({ headers: { "x-api-key": standIn } });
});

test("gives the key in no other header, which a provider may quote in its answer", async () => {
  const relay = await relayTo(await model(echo));
  const key = relay.standIn("the-key", KEY_HEADERS);
  const headers = {
    "x-api-key": key,
    "anthropic-beta": key,
    authorization: `Basic ${key}`,
    "x-list": `a, ${key}`,
  };
  const answer = await fetch(relay.address, { headers });
  expect(await answer.json()).toMatchObject({ headers: { ...headers, "x-api-key": "the-key" } });
});

test("does not pass TRACE on, which is answered with the headers", async () => {
  const relay = await relayTo(await model(echo));
  const headers = { "x-api-key": relay.standIn("the-key", KEY_HEADERS) };
  const asking = request(relay.address, { method: "TRACE", headers }).end();
  const [answer] = await once(asking, "response");
  expect([answer.statusCode, await text(answer)]).toEqual([400, expect.not.stringContaining("the-key")]);
});

test.each([
  ...["http://other.example/v1", "*", "@other.example/"],
  ...["/../other", "/%2e%2e/other", "/v1/..%2f..%2fother", "/..\\other"],
])("leads nowhere else: %j", async (path) => {
  const relay = await relayTo(await model(echo));
  const asking = request(relay.address, {
    path,
    headers: { "x-api-key": relay.standIn("the-key", KEY_HEADERS) },
  }).end();
  const [answer] = await once(asking, "response");
  expect(answer.statusCode).toBe(400);
  expect(await text(answer)).not.toContain("the-key");
});

test("passes an answer on while it comes, and breaks off where the model does", async () => {
  let cut: () => unknown = () => undefined;
  const upstream = await model((_request, response) => {
    response.write("first");
    cut = () => response.destroy();
  });
  const { body } = await fetch((await relayTo(upstream)).address);
  const reader = body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe("first");
  cut();
  await expect(reader?.read()).rejects.toThrow("terminated");
});

test("stops asking the model when the agent goes away", async () => {
  let left: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => {
    left = resolve;
  });
  const upstream = await model((incoming, response) => {
    incoming.socket.once("close", left);
    response.write("first");
  });
  const stop = new AbortController();
  await fetch((await relayTo(upstream)).address, { signal: stop.signal });
  stop.abort();
  await gone;
});

test("says that the model cannot be reached", async () => {
  const answer = await fetch((await relayTo(new URL("http://127.0.0.1:1"))).address);
  expect([answer.status, await answer.json()]).toEqual([
    502,
    {
      type: "error",
      error: { type: "api_error", message: "Flint could not reach 127.0.0.1:1: ECONNREFUSED." },
    },
  ]);
});

test("is gone when it is closed, with what runs through it", async () => {
  const relay = await relayTo(await model((_request, response) => response.write("first")));
  const { body } = await fetch(relay.address);
  await relay.close();
  await expect(body?.getReader().closed).rejects.toThrow("terminated");
  await expect(fetch(relay.address)).rejects.toThrow("fetch failed");
});
