import type { Clock } from "@flint/core/ports";
import { LIMITS } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { RESPONSE_TIMEOUT_MS } from "./connection.ts";
import { McpServers } from "./mcp-servers.ts";
import { HttpFixture } from "./testing/http-server.ts";
import { call, told, toolsOf } from "./testing/mcp-session.ts";

const NO_SANDBOX = { state: unused, launch: unused, start: unused };
const HEADERS = { authorization: "Bearer sesame-token" };

function unused(): Promise<never> {
  return Promise.reject(new Error("Nothing is started for a server that is reached over HTTP."));
}

interface Opened {
  readonly fixture: HttpFixture;
  readonly servers: McpServers;
}

async function open(
  headers: Record<string, string> = HEADERS,
  clock: Clock = new TestClock(),
): Promise<Opened> {
  const fixture = new HttpFixture();
  const url = await fixture.listen();
  const config = { type: "http", name: "web", url, headers } as const;
  const servers = new McpServers([config], { sandbox: NO_SANDBOX, cwd: "/", clock });
  onTestFinished(async () => {
    await servers.close();
    await fixture.close();
  });
  return { fixture, servers };
}

test("a server is reached over HTTP with the configured headers, and told when we leave", async () => {
  const { fixture, servers } = await open();
  expect(told(await call(servers, "mcp__web__echo", { text: "hi" }))).toBe("echo: hi");
  const slow = await call(servers, "mcp__web__slow");
  expect(slow.events.map(({ type }) => type)).toEqual([
    "item/started",
    ...Array.from({ length: 3 }, () => "item/mcpToolCall/progress"),
    "item/completed",
  ]);
  await servers.close();
  expect(new Set(fixture.requests.map((line) => line.split(" ").slice(1).join(" ")))).toEqual(
    new Set(["Bearer sesame-token"]),
  );
  expect(fixture.requests.at(-1)).toMatch(/^DELETE/);
});

test("a server asks the user over HTTP too", async () => {
  const { servers } = await open();
  const params = { message: "Go on?", requestedSchema: { type: "object", properties: {} } };
  const answer = () => ({ answer: { answers: ["yes"] } });
  expect(told(await call(servers, "mcp__web__asks", { params }, { answer }))).toBe(
    '{"action":"accept","content":{}}',
  );
});

test("an interrupt does not wait for the server", async () => {
  const { servers } = await open();
  const stop = new AbortController();
  const { outcome } = await call(
    servers,
    "mcp__web__waits",
    {},
    {
      signal: stop.signal,
      onEvent: ({ type }) => type === "item/mcpToolCall/progress" && stop.abort(),
    },
  );
  expect(outcome).toEqual({ ended: { status: "interrupted" } });
  expect(told(await call(servers, "mcp__web__cancelled"))).toBe('["The call was stopped."]');
});

test("a server that does not let us in says so, and shows nothing of the key", async () => {
  const { fixture, servers } = await open();
  fixture.fault = "refuses";
  await toolsOf(servers);
  expect(servers.statuses()).toEqual([
    {
      name: "web",
      status: "failed",
      error: "It answered with HTTP 401: it does not let us in. Check the headers in its configuration.",
    },
  ]);
});

test("a key is not carried to another place, nor shown in an error", async () => {
  const { fixture, servers } = await open();
  fixture.fault = "redirects";
  await toolsOf(servers);
  expect(servers.statuses()).toMatchObject([
    { status: "failed", error: expect.stringContaining("127.0.0.2") },
  ]);
  const broken = await open({ authorization: "sesame\nopen" });
  await toolsOf(broken.servers);
  const [status] = broken.servers.statuses();
  expect(status?.status).toBe("failed");
  expect(status?.error).not.toMatch(/sesame|query-secret/);
});

test("an answer that breaks off fails its call at once, and the next one works", async () => {
  const { fixture, servers } = await open();
  await toolsOf(servers);
  fixture.fault = "breaksOff";
  expect((await call(servers, "mcp__web__echo")).item).toMatchObject({
    status: "failed",
    error: "The connection ended before the answer came.",
  });
  fixture.fault = undefined;
  expect(told(await call(servers, "mcp__web__echo", { text: "hi" }))).toBe("echo: hi");
});

test("an answer without end is cut off", async () => {
  const { fixture, servers } = await open();
  await toolsOf(servers);
  fixture.fault = "floods";
  expect((await call(servers, "mcp__web__echo")).item).toMatchObject({
    status: "failed",
    error: `It sent a message of more than ${LIMITS.line} bytes.`,
  });
});

test("a server that forgot us is connected to anew with the next turn", async () => {
  const { fixture, servers } = await open();
  await toolsOf(servers);
  fixture.fault = "forgets";
  expect((await call(servers, "mcp__web__echo")).item).toMatchObject({
    error: expect.stringContaining("HTTP 404"),
  });
  fixture.fault = undefined;
  expect(told(await call(servers, "mcp__web__echo", { text: "hi" }))).toBe("echo: hi");
});

test("a server that never answers is given up after ten seconds", async () => {
  const clock = new TestClock();
  const { fixture, servers } = await open(HEADERS, clock);
  fixture.fault = "hangs";
  const arrived = new Promise<void>((resolve) => {
    fixture.arrived = resolve;
  });
  const listing = toolsOf(servers);
  await arrived;
  await clock.advance(RESPONSE_TIMEOUT_MS);
  expect((await listing).size).toBe(0);
  expect(servers.statuses()).toMatchObject([{ error: "It did not answer within 10 seconds." }]);
});

test("an address where nobody listens, and one that is none, fail with words", async () => {
  const { fixture, servers } = await open();
  await fixture.close();
  await toolsOf(servers);
  expect(servers.statuses()).toMatchObject([{ error: "It cannot be reached: ECONNREFUSED." }]);
  const config = { type: "http", name: "odd", url: "ftp://host/?key=sesame", headers: {} } as const;
  const odd = new McpServers([config], { sandbox: NO_SANDBOX, cwd: "/" });
  await toolsOf(odd);
  expect(odd.statuses()).toMatchObject([{ error: expect.stringContaining("no http or https address") }]);
});
