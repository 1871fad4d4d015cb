import type { Clock } from "@flint/core/ports";
import { LIMITS } from "@flint/protocol";
import { TestClock } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { RESPONSE_TIMEOUT_MS } from "./connection.ts";
import { McpServers } from "./mcp-servers.ts";
import { HttpFixture } from "./testing/http-server.ts";
import { call, textOf, toolsOf } from "./testing/mcp-session.ts";

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

test("connects over HTTP with the configured headers and ends the session on close", async () => {
  const { fixture, servers } = await open();
  expect(textOf(await call(servers, "mcp__web__echo", { text: "hi" }))).toBe("echo: hi");
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

test("lets an HTTP server ask the user", async () => {
  const { servers } = await open();
  const params = { message: "Go on?", requestedSchema: { type: "object", properties: {} } };
  const answers = () => ({ answer: { answers: ["yes"] } });
  expect(textOf(await call(servers, "mcp__web__asks", { params }, { answers }))).toBe(
    '{"action":"accept","content":{}}',
  );
});

test("does not wait for the server after an interrupt", async () => {
  const { servers } = await open();
  const stop = new AbortController();
  const { outcome } = await call(
    servers,
    "mcp__web__waits",
    {},
    {
      signal: stop.signal,
      watch: ({ type }) => type === "item/mcpToolCall/progress" && stop.abort(),
    },
  );
  expect(outcome).toEqual({ ended: { status: "interrupted" } });
  expect(textOf(await call(servers, "mcp__web__cancelled"))).toBe('["The call was cancelled."]');
});

test("reports denied access without the key", async () => {
  const { fixture, servers } = await open();
  fixture.fault = "refuses";
  await toolsOf(servers);
  expect(servers.statuses()).toEqual([
    {
      name: "web",
      status: "failed",
      error: "It returned HTTP 401: access was denied. Check the headers in its configuration.",
    },
  ]);
});

test("neither sends a key to another host nor shows it in an error", async () => {
  const other = new HttpFixture();
  const { origin } = new URL(await other.listen());
  onTestFinished(() => other.close());
  const { fixture, servers } = await open({ "x-api-key": "sesame" });
  fixture.fault = "redirects";
  fixture.location = `${origin}/elsewhere`;
  await toolsOf(servers);
  expect(servers.statuses()).toMatchObject([
    { status: "failed", error: expect.stringContaining(`It redirects to ${origin} (HTTP 307).`) },
  ]);
  await servers.close();
  expect(other.requests).toEqual([]);
  const broken = await open({ authorization: "sesame\nopen" });
  await toolsOf(broken.servers);
  const [status] = broken.servers.statuses();
  expect(status?.status).toBe("failed");
  expect(status?.error).not.toMatch(/sesame|query-secret/);
});

test("follows a redirect within the server", async () => {
  const { fixture, servers } = await open();
  fixture.fault = "redirects";
  fixture.location = "/elsewhere";
  expect(textOf(await call(servers, "mcp__web__echo", { text: "hi" }))).toBe("echo: hi");
});

test("fails a call whose response is cut off", async () => {
  const { fixture, servers } = await open();
  await toolsOf(servers);
  fixture.fault = "breaksOff";
  expect((await call(servers, "mcp__web__echo")).item).toMatchObject({
    status: "failed",
    error: "The connection ended before the response.",
  });
  fixture.fault = undefined;
  expect(textOf(await call(servers, "mcp__web__echo", { text: "hi" }))).toBe("echo: hi");
});

test("limits an endless response", async () => {
  const { fixture, servers } = await open();
  await toolsOf(servers);
  fixture.fault = "floods";
  expect((await call(servers, "mcp__web__echo")).item).toMatchObject({
    status: "failed",
    error: `It sent a message of more than ${LIMITS.line} bytes.`,
  });
});

test("reconnects with the next turn after a session expired", async () => {
  const { fixture, servers } = await open();
  await toolsOf(servers);
  fixture.fault = "forgets";
  expect((await call(servers, "mcp__web__echo")).item).toMatchObject({
    error: expect.stringContaining("HTTP 404"),
  });
  fixture.fault = undefined;
  expect(textOf(await call(servers, "mcp__web__echo", { text: "hi" }))).toBe("echo: hi");
});

test("fails a server that does not answer within ten seconds", async () => {
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

test("fails with the reason for a URL that is invalid or not reachable", async () => {
  const { fixture, servers } = await open();
  await fixture.close();
  await toolsOf(servers);
  expect(servers.statuses()).toMatchObject([{ error: "It cannot be reached: ECONNREFUSED." }]);
  const config = { type: "http", name: "odd", url: "ftp://host/?key=sesame", headers: {} } as const;
  const odd = new McpServers([config], { sandbox: NO_SANDBOX, cwd: "/" });
  await toolsOf(odd);
  expect(odd.statuses()).toMatchObject([{ error: expect.stringContaining("not an http or https URL") }]);
});
