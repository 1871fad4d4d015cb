import { CommandSandbox } from "@flint/host/sandbox";
import { leavesNoProcess, TestClock, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished, test } from "vitest";
import { McpConnection } from "./connection.ts";
import { McpFailure } from "./failure.ts";
import { fixtureServer } from "./testing/http-server.ts";

async function setup() {
  leavesNoProcess();
  const { path: cwd } = await temporaryFolder();
  const sandbox = new CommandSandbox({ environment: process.env });
  return { sandbox, cwd, clock: new TestClock(), version: "1", policy: { type: "workspaceWrite" } as const };
}

test("does not send a call that was cancelled before it began", async () => {
  const connection = await McpConnection.open(
    fixtureServer("notes"),
    await setup(),
    new AbortController().signal,
  );
  onTestFinished(() => connection.close());
  const listener = { progress: () => {}, ask: async () => ({}) };
  const stopped = connection.callTool("grows", {}, { ...listener, signal: AbortSignal.abort() });
  await expect(stopped).rejects.toEqual(new McpFailure("The call was cancelled."));
  const { signal } = new AbortController();
  const echoed = await connection.callTool("echo", { text: "hi" }, { ...listener, signal });
  expect(echoed).toEqual({ content: [{ type: "text", text: "echo: hi" }] });
});

test("stops the process of a connection that was cancelled while it started", async () => {
  const opening = McpConnection.open(fixtureServer("notes"), await setup(), AbortSignal.abort("Flint ends."));
  await expect(opening).rejects.toThrow(/^Flint ends\./);
});
