import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { temporaryFolder, WireClient } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { asMessage, FLINT } from "./server.ts";

function harness(cwd: string): WireClient {
  return WireClient.spawn([process.execPath, FLINT, "harness", "--cwd", cwd], { header: true });
}

async function turn(wire: WireClient, threadId: unknown, text: string) {
  const from = wire.mark;
  const answer = await wire.request("turn.start", { threadId, input: [{ type: "text", text }] });
  await wire.waitFor(({ method }) => method === "turn.completed" || method === "turn.error", { after: from });
  return { turnId: asMessage(answer).turnId, messages: wire.messages.slice(from) };
}

describe("the harness front end", () => {
  test("one piped request is answered before the process ends [S1-1..4, S1-37, S1-38]", async () => {
    const { path } = await temporaryFolder();
    const wire = harness(path);
    await wire.sendRaw('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n');
    wire.end();
    expect(await wire.exited).toEqual({ code: 0, signal: null });
    expect(wire.lines.map((line) => JSON.parse(line))).toEqual([
      {
        jsonrpc: "2.0",
        id: 1,
        result: {
          version: "1.0.0",
          capabilities: { threads: true, turns: true, approvals: true, streaming: true, persistence: true },
        },
      },
    ]);
  });

  test("a turn that fails ends with turn.error and the reason [S1-15]", async () => {
    const { path } = await temporaryFolder();
    const wire = harness(path);
    const { thread } = asMessage(await wire.request("thread.create", { directory: path }));
    const { messages } = await turn(wire, asMessage(thread).threadId, "fail with: the quota is gone");
    const ended = messages.filter(({ method }) => String(method).startsWith("turn."));
    expect(ended.map(({ method }) => method)).toEqual(["turn.started", "turn.error"]);
    expect(ended.at(-1)?.params).toMatchObject({
      turn: { status: "error" },
      error: { message: expect.stringContaining("the quota is gone") },
    });
    wire.end();
    await wire.exited;
  });

  test("a turn streams its results after its answer, and its history survives a restart [S1-5..9, S1-12..14, S1-16..18, S1-20..23, S1-29..31]", async () => {
    const { path } = await temporaryFolder();
    const wire = harness(path);
    const created = asMessage(await wire.request("thread.create", { title: "Sample", directory: path }));
    const threadId = asMessage(created.thread).threadId;
    expect(created.thread).toMatchObject({
      title: "Sample",
      directory: path,
      time: { created: expect.any(Number) },
    });
    const { turnId, messages } = await turn(wire, threadId, "what is in this folder?");
    const methods = messages.map(({ method }) => method);
    expect(methods.indexOf(undefined)).toBeLessThan(methods.indexOf("turn.started"));
    const kinds = messages
      .filter(({ method }) => method === "item.started")
      .map(({ params }) => asMessage(asMessage(params).item).type);
    expect(kinds).toEqual(
      expect.arrayContaining(["user_message", "tool_exec", "tool_log", "assistant_message"]),
    );
    expect(methods).toContain("item.delta");
    expect(wire.messages.some(({ method }) => method === "thread.created")).toBe(true);
    expect(messages.every((message) => message.jsonrpc === "2.0")).toBe(true);
    expect((await readdir(`${path}/.harness/threads/${threadId}`)).sort()).toEqual(
      expect.arrayContaining(["events.jsonl", "meta.json"]),
    );
    expect(await readFile(`${path}/.harness/threads/${threadId}/events.jsonl`, "utf8")).toContain(
      "what is in this folder?",
    );
    const before = asMessage(await wire.request("thread.get", { threadId }));
    wire.end();
    await wire.exited;
    const later = harness(path);
    const list = asMessage(await later.request("thread.list", {}));
    expect(list.threads).toMatchObject([{ threadId, title: "Sample" }]);
    const got = asMessage(await later.request("thread.get", { threadId }));
    const types = (got.events as { type: string }[]).map(({ type }) => type);
    expect(types).toEqual(
      expect.arrayContaining(["thread.created", "turn.started", "item.completed", "turn.completed"]),
    );
    expect(JSON.stringify(got.events)).toContain(String(turnId));
    expect(got.events).toEqual(before.events);
    const again = await turn(later, threadId, "hello again");
    expect(again.messages.at(-1)?.method).toBe("turn.completed");
  });

  test("an approval is sent, answered by its id, and remembered for always [S1-10, S1-19, S1-24, S1-36]", async () => {
    const { path } = await temporaryFolder();
    const wire = harness(path);
    const created = asMessage(await wire.request("thread.create", {}));
    const threadId = asMessage(created.thread).threadId;
    const ask = async (decision: string) => {
      const from = wire.mark;
      await wire.request("turn.start", { threadId, input: [{ type: "text", text: "run `touch made.txt`" }] });
      const request = asMessage((await wire.waitForMethod("approval.requested", { after: from })).params);
      expect(await wire.request("approval.respond", { requestId: request.requestId, decision })).toEqual({
        ok: true,
      });
      await wire.waitForMethod("turn.completed", { after: from });
      return { request, messages: wire.messages.slice(from) };
    };
    const rejected = await ask("reject");
    expect(rejected.request).toMatchObject({ action: { kind: "command", command: "touch made.txt" } });
    expect(await readdir(path)).not.toContain("made.txt");
    await expect(
      wire.request("approval.respond", { requestId: rejected.request.requestId, decision: "once" }),
    ).rejects.toMatchObject({ code: -32004 });
    await ask("once");
    expect(await readdir(path)).toContain("made.txt");
    await ask("always");
    const { messages } = await turn(wire, threadId, "run `touch made.txt`");
    expect(messages.some(({ method }) => method === "approval.requested")).toBe(false);
  });

  test("rejects a second turn while one is running, and cancels it [S1-11, S1-34, S1-35]", async () => {
    const { path } = await temporaryFolder();
    const wire = WireClient.spawn(
      [process.execPath, FLINT, "harness", "--cwd", path, "--approval", "never"],
      { header: true },
    );
    const created = asMessage(await wire.request("thread.create", {}));
    const threadId = asMessage(created.thread).threadId;
    await expect(wire.request("turn.cancel", { threadId })).rejects.toMatchObject({ code: -32003 });
    const input = [{ type: "text", text: "run `sleep 60`" }];
    await wire.request("turn.start", { threadId, input });
    await wire.waitFor(
      ({ method, params }) =>
        method === "item.started" && asMessage(asMessage(params).item).type === "tool_exec",
    );
    await expect(wire.request("turn.start", { threadId, input })).rejects.toMatchObject({ code: -32002 });
    expect(await wire.request("turn.cancel", { threadId })).toEqual({ ok: true });
    const ended = await wire.waitForMethod("turn.completed");
    expect(asMessage(asMessage(ended.params).turn).status).toBe("cancelled");
  });

  test("errors have the codes of this protocol [S1-32, S1-33]", async () => {
    const { path } = await temporaryFolder();
    const wire = harness(path);
    await expect(wire.request("thread.get", { threadId: "unknown" })).rejects.toMatchObject({ code: -32001 });
    await expect(wire.request("no.such", {})).rejects.toMatchObject({ code: -32601 });
    await expect(wire.request("thread.get", {})).rejects.toMatchObject({ code: -32602 });
    await wire.sendRaw("{nope\n[1]\n");
    await wire.waitFor(({ id, error }) => id === null && asMessage(error).code === -32700);
    await wire.waitFor(({ id, error }) => id === null && asMessage(error).code === -32600);
  });

  test("the demo client runs a prompt in a folder [S1-39]", async () => {
    const { path } = await temporaryFolder();
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [
      FLINT,
      "harness-client",
      "--cwd",
      path,
      "run `echo from the demo`",
    ]).catch((error: { stdout: string }) => error);
    expect(stdout).toContain("echo from the demo");
    const listed = await run(process.execPath, [
      FLINT,
      "harness-client",
      "--cwd",
      path,
      "what is in this folder?",
    ]);
    expect(listed.stdout).toContain("$ ls");
  });
});
