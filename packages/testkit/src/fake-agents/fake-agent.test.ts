import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { Peer } from "@flint/rpc";
import { streamTransport } from "@flint/rpc/node";
import { describe, expect, onTestFinished, test } from "vitest";
import { verifies } from "../needs.ts";
import { isAlive, leavesNoProcess, waitForExit } from "../processes.ts";
import { type TemporaryFolder, temporaryFolder } from "../temp.ts";
import { WireClient } from "../wire-client.ts";
import {
  CODEX_RESUME_SCRIPT,
  CODEX_TURN_SCRIPT,
  type FakeStep,
  fakeAgentCommand,
  HOSTILE_AGENTS,
  type HostileAgent,
  installFakeAgent,
  writeFakeAgent,
} from "./fake-agent.ts";

type Received = { readonly method: string; readonly params: Record<string, unknown> };

const CLIENT = { clientInfo: { name: "testkit", version: "0" } };

describe("a fake codex app-server", () => {
  verifies(
    ["S4-43", "S4-44"],
    "plays a whole turn: final text, tool events, and the id to resume by",
    async () => {
      leavesNoProcess();
      const folder = await temporaryFolder();
      const first = new CodexClient(CODEX_TURN_SCRIPT);
      await first.peer.request("initialize", CLIENT);
      first.peer.notify("initialized");
      const started = await first.peer.request("thread/start", { cwd: folder.path });
      const threadId = fieldOf(started, "thread", "id");
      await writeFile(folder.join("thread-id"), String(threadId));
      const input = [{ type: "text", text: "How many lanterns are there?" }];
      await first.peer.request("turn/start", { threadId, input });
      const completed = await first.completed;

      expect(first.textOf("item-answer")).toBe("There are seven lanterns.");
      expect(fieldOf(completed, "turn", "items")).toEqual([
        { type: "agentMessage", id: "item-answer", text: "There are seven lanterns." },
      ]);
      expect(first.asked).toEqual(["item/commandExecution/requestApproval"]);
      expect(first.eventsOf("call-lantern")).toEqual([
        ["item/started", "inProgress"],
        ["item/commandExecution/outputDelta", "7 lanterns.txt\n"],
        ["item/completed", "completed"],
      ]);
      first.peer.close();

      const second = new CodexClient(CODEX_RESUME_SCRIPT);
      await second.peer.request("initialize", CLIENT);
      const kept = await readFile(folder.join("thread-id"), "utf8");
      const resumed = await second.peer.request("thread/resume", { threadId: kept });
      expect(fieldOf(resumed, "thread", "id")).toBe(threadId);
      second.peer.close();
    },
  );
});

describe("a fake agent", () => {
  test("answers with what it captured, from fields, arguments and longer texts", async () => {
    const agent = await play(await temporaryFolder(), [
      { expect: { id: "$id", params: { list: ["$first", 2] } } },
      { send: { id: "$id", result: { first: "$first.name", text: "it is {{first.name}}", argv: "$argv" } } },
    ]);
    const answer = agent.request("anything", { list: [{ name: "Ada" }, 2], more: true });
    expect(await answer).toEqual({ first: "Ada", text: "it is Ada", argv: ["--flag"] });
    expect(await agent.exited).toEqual({ code: 0, signal: null });
  });

  test("buffers a line that arrives before it is expected", async () => {
    const agent = await play(await temporaryFolder(), [
      { expect: { method: "second" } },
      { expect: { method: "first" } },
      { send: { method: "done" } },
    ]);
    agent.notify("first");
    agent.notify("second");
    await agent.waitForMethod("done");
  });

  test("a captured name has the same value everywhere", async () => {
    const agent = await play(await temporaryFolder(), [
      { expect: { thread: "$thread" } },
      { expect: { thread: "$thread", again: true } },
      { send: { method: "done" } },
    ]);
    agent.send({ thread: "a" });
    agent.send({ thread: "b", again: true });
    agent.send({ thread: "a", again: true });
    agent.end();
    await agent.waitForMethod("done");
  });

  test("serves again and again until the end of input, each time with fresh captures", async () => {
    const steps: FakeStep[] = [
      { forever: [{ expect: { id: "$id", method: "$method" } }, { send: { id: "$id", result: "$method" } }] },
    ];
    const agent = await play(await temporaryFolder(), steps);
    expect(await agent.request("one")).toBe("one");
    expect(await agent.request("two")).toBe("two");
    agent.end();
    expect(await agent.exited).toEqual({ code: 0, signal: null });
  });

  test("leaves with the chosen code when the input ends before what it expects", async () => {
    const agent = await play(await temporaryFolder(), [{ expect: { method: "x" }, atEnd: 7 }]);
    agent.end();
    expect((await agent.exited).code).toBe(7);
  });

  test("reports what is wrong with its script and exits", async () => {
    const agent = WireClient.spawn(fakeAgentCommand(await scriptFile('{"dance":true}')));
    expect((await agent.exited).code).toBe(64);
    expect(agent.stderr).toContain('no such step: {"dance":true}');
  });

  test("counts its repetitions", async () => {
    const agent = await play(await temporaryFolder(), [{ send: { number: "$index" }, repeat: 3 }]);
    await agent.exited;
    expect(agent.messages).toEqual([{ number: 0 }, { number: 1 }, { number: 2 }]);
  });

  test("starts a process that stays behind when the agent is killed, so that a kill of the tree can be tested", async () => {
    leavesNoProcess();
    const agent = await play(await temporaryFolder(), [
      { spawn: ["sleep", "1000"] },
      { send: { child: "$child" } },
      { hang: true },
    ]);
    const { child } = await agent.waitFor((message) => "child" in message);
    agent.kill("SIGKILL");
    await agent.exited;
    expect(isAlive(Number(child))).toBe(true);
    process.kill(Number(child), "SIGKILL");
    await waitForExit([Number(child)]);
  });

  test("can be found in PATH under the name of a real one", async () => {
    const folder = await temporaryFolder();
    const command = await writeFakeAgent(folder.path, [{ send: { argv: "$argv" } }]);
    await installFakeAgent(folder.path, "codex", command);
    const path = `${folder.path}:${process.env.PATH}`;
    const agent = WireClient.spawn(["codex", "app-server", "it's"], { env: { PATH: path } });
    expect(await agent.waitFor(() => true)).toEqual({ argv: ["app-server", "it's"] });
  });
});

describe("a hostile agent", () => {
  const LOUD: readonly HostileAgent[] = ["writes a line of 50 MB", "writes 100 MB to stderr"];

  test.each(LOUD)("%s, all of it", async (name) => {
    const bytes = await amountWritten(HOSTILE_AGENTS[name].slice(0, 1));
    expect(bytes).toEqual(
      name === "writes a line of 50 MB"
        ? { stdout: 50 * 1024 * 1024 + 1, stderr: 0 }
        : { stdout: 0, stderr: 100 * 1024 * 1024 },
    );
  });

  test("answers everything twice", async () => {
    const agent = await play(await temporaryFolder(), HOSTILE_AGENTS["answers everything twice"]);
    await agent.request("one");
    agent.end();
    await agent.exited;
    expect(agent.messages).toEqual([
      { id: 1, result: {} },
      { id: 1, result: {} },
    ]);
  });

  test("ignores SIGTERM and the end of input, and has ended after SIGKILL", async () => {
    const agent = await play(await temporaryFolder(), [
      { ignoreSignals: ["SIGTERM"] },
      { send: { method: "ready" } },
      { expect: { method: "ping" } },
      { send: { method: "pong" } },
      { hang: true },
    ]);
    await agent.waitForMethod("ready");
    agent.kill("SIGTERM");
    agent.notify("ping");
    await agent.waitForMethod("pong");
    agent.end();
    agent.kill("SIGKILL");
    expect(await agent.exited).toEqual({ code: null, signal: "SIGKILL" });
  });
});

async function play(folder: TemporaryFolder, steps: readonly FakeStep[]): Promise<WireClient> {
  return WireClient.spawn([...(await writeFakeAgent(folder.path, steps)), "--flag"]);
}

async function scriptFile(text: string): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(folder.join("script.jsonl"), text);
  return folder.join("script.jsonl");
}

async function amountWritten(steps: readonly FakeStep[]): Promise<{ stdout: number; stderr: number }> {
  const folder = await temporaryFolder();
  const [program = "", ...given] = await writeFakeAgent(folder.path, steps);
  const child = spawn(program, given, { stdio: ["ignore", "pipe", "pipe"] });
  const bytes = { stdout: 0, stderr: 0 };
  child.stdout.on("data", (chunk: Buffer) => {
    bytes.stdout += chunk.length;
  });
  child.stderr.on("data", (chunk: Buffer) => {
    bytes.stderr += chunk.length;
  });
  await new Promise((resolve) => child.on("close", resolve));
  return bytes;
}

/** A client of the fake server over the real peer; it accepts whatever it is asked. */
class CodexClient {
  readonly peer: Peer;
  readonly received: Received[] = [];
  readonly asked: string[] = [];
  readonly completed: Promise<unknown>;

  constructor(script: string) {
    const [program = "", ...given] = fakeAgentCommand(script);
    const child = spawn(program, given, { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let complete: (params: unknown) => void = () => {};
    this.completed = new Promise((resolve) => {
      complete = resolve;
    });
    this.peer = new Peer(streamTransport(child.stdout, child.stdin), {
      header: false,
      lineLimit: 1024 * 1024,
      queueLimit: 1024 * 1024,
      handlers: {
        request: (id, method) => {
          this.asked.push(method);
          this.peer.reply(id, { decision: "accept" });
        },
        notification: (method, params) => {
          this.received.push({ method, params: asRecord(params) });
          if (method === "turn/completed") complete(params);
        },
        bad: (fault) => expect.fail(fault.message),
      },
    });
    this.peer.start();
  }

  textOf(itemId: string): string {
    const deltas = this.received.filter(
      ({ method, params }) => method === "item/agentMessage/delta" && params.itemId === itemId,
    );
    return deltas.map(({ params }) => params.delta).join("");
  }

  eventsOf(itemId: string): unknown[] {
    return this.received.flatMap(({ method, params }) => {
      if (params.itemId === itemId) return [[method, params.delta]];
      const item = asRecord(params.item);
      return item.id === itemId ? [[method, item.status]] : [];
    });
  }
}

function asRecord(value: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(Object(value)));
}

function fieldOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => asRecord(at)[key], value);
}
