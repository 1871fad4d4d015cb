import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agentProgram, needs, WireClient, type WireMessage } from "@flint/testkit";
import { expect, test, vi } from "vitest";
import { serverFile } from "../../packages/server/src/config.ts";
import { CodexSchemas } from "./codex-schemas.ts";
import { environmentIn, FLINT_CODEX, sdkPlace } from "./codex-sdk.ts";
import { asMessage } from "./server.ts";

/** Several programs are started one after the other, on a machine that may be busy. */
const TEST_MS = 90_000;
const WAIT = { withinMs: 30_000 };
/** Nothing that runs without a question, and harmless in every sandbox. */
const COMMAND = "sh -c 'echo lantern'";
/** What it prints, as it stands in JSON. */
const OUTPUT = "lantern\\n";

needs("codex-acp")(
  "codex-acp works on Flint as if it were Codex: text, approvals both ways, and a cancel",
  async () => {
    const { acp, sessionId } = await codexAcp();
    const prompt = (text: string) =>
      acp.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] }, WAIT);

    expect(await prompt("hello")).toMatchObject({ stopReason: "end_turn" });
    expect(saidIn(acp, 0)).toContain("offline model");

    let from = acp.mark;
    let turn = prompt(`run \`${COMMAND}\``);
    await decide(acp, from, "allow_once");
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(saidIn(acp, from)).toContain("lantern");
    expect(JSON.stringify(updatesIn(acp, from))).toContain(OUTPUT);

    from = acp.mark;
    turn = prompt(`run \`${COMMAND}\``);
    await decide(acp, from, "reject_once");
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(saidIn(acp, from)).toContain("declined");
    expect(JSON.stringify(updatesIn(acp, from))).not.toContain(OUTPUT);

    from = acp.mark;
    turn = prompt("count to 100000");
    await acp.waitForMethod("session/update", { after: from, ...WAIT });
    acp.notify("session/cancel", { sessionId });
    expect(await turn).toMatchObject({ stopReason: "cancelled" });
    acp.end();
    await acp.exited;
  },
  TEST_MS,
);

needs("codex")(
  "what t3code does with Codex works with Flint, and every message is one that Codex could have sent",
  async () => {
    const { workspace, home } = await sdkPlace();
    const client = await T3Client.start(workspace, home);
    const initialize = {
      capabilities: { experimentalApi: true },
      clientInfo: { name: "t3code_desktop", title: "T3 Code Desktop", version: "0.0.33" },
    };
    await client.call("initialize", initialize);
    client.wire.notify("initialized");
    await client.call("account/read", {});
    await client.call("skills/list", { cwds: [workspace] });
    const { data } = asMessage(await client.call("model/list", {}));
    const model = asMessage(Array.isArray(data) ? data[0] : undefined).model;
    const policies = { approvalPolicy: "untrusted", approvalsReviewer: "user", model };
    const threadId = await client.startThread({ ...policies, cwd: workspace, sandbox: "read-only" });
    const settings = { threadId, ...policies, sandboxPolicy: { type: "workspaceWrite" } };

    const plain = await client.turn({ ...settings, input: text("hello") });
    expect(plain).toMatchObject({ status: "completed" });

    const accepted = client.turn({ ...settings, input: text("run `touch t3.txt`") });
    await client.decide("item/commandExecution/requestApproval", "accept");
    expect(await accepted).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "t3.txt"))).toBe(true);

    const declined = client.turn({ ...settings, input: text("run `touch no.txt`") });
    await client.decide("item/commandExecution/requestApproval", "decline");
    expect(await declined).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "no.txt"))).toBe(false);

    const written = client.turn({ ...settings, input: text("write `lantern` to t3b.txt") });
    await client.decide("item/fileChange/requestApproval", "accept");
    expect(await written).toMatchObject({ status: "completed" });
    expect(await readFile(join(workspace, "t3b.txt"), "utf8")).toContain("lantern");

    const long = client.turn({ ...settings, input: text("count to 100000") });
    await client.interrupt(threadId);
    expect(await long).toMatchObject({ status: "interrupted" });

    const turns = await client.turnsOf("thread/read", { threadId, includeTurns: true });
    expect(turns).toHaveLength(5);
    const left = await client.turnsOf("thread/rollback", { threadId, numTurns: 1 });
    expect(left).toHaveLength(4);
    await client.call("config/mcpServer/reload", {});
    await client.end();

    const later = await T3Client.start(workspace, home);
    await later.call("initialize", initialize);
    await later.call("thread/resume", { threadId, ...policies, cwd: workspace, sandbox: "read-only" });
    const again = await later.turn({ ...settings, input: text("what did I ask before?") });
    expect(JSON.stringify(again)).toContain("touch t3.txt");
    const nobody = "01a1e316-321b-7052-93ed-a40b0e39ea25";
    await expect(later.wire.request("thread/resume", { threadId: nobody })).rejects.toThrow(
      /not found|missing thread|no such thread|unknown thread|does not exist/i,
    );
    await later.end();
    expect(await client.problems()).toEqual([]);
    expect(await later.problems()).toEqual([]);
  },
  TEST_MS,
);

test(
  "settings that a client gives its app server hold for the threads that say nothing else",
  async () => {
    const { workspace, home } = await sdkPlace();
    const settings = ["-c", 'approval_policy="never"', "-c", "sandbox_mode=read-only", "-c", "shiny=1"];
    const wire = spawnServer(workspace, home, [...settings, "app-server", "--listen", "stdio://"]);
    await wire.request("initialize", { clientInfo: { name: "test", version: "1" } }, WAIT);
    expect(await wire.request("thread/start", { cwd: workspace }, WAIT)).toMatchObject({
      approvalPolicy: "never",
      sandbox: { type: "readOnly" },
    });
    expect(wire.stderr).toContain("--config shiny is left out");
    wire.end();
    expect(await wire.exited).toEqual({ code: 0, signal: null });
  },
  TEST_MS,
);

test(
  "two clients that each start an app server meet on the same live thread",
  async () => {
    const { workspace, home } = await sdkPlace();
    const one = spawnServer(workspace, home);
    const clientInfo = { name: "test", version: "1" };
    await one.request("initialize", { clientInfo }, WAIT);
    const { thread } = asMessage(await one.request("thread/start", { cwd: workspace }, WAIT));
    const { id: threadId } = asMessage(thread);
    await one.request("turn/start", { threadId, input: text("hello") }, WAIT);
    await one.waitForMethod("turn/completed", WAIT);
    await vi.waitUntil(() => existsSync(serverFile(home)), { timeout: WAIT.withinMs });
    const other = spawnServer(workspace, home);
    await other.request("initialize", { clientInfo }, WAIT);
    await other.request("thread/resume", { threadId }, WAIT);
    const after = one.mark;
    await other.request("turn/start", { threadId, input: text("hello again") }, WAIT);
    const told = await one.waitForMethod("turn/completed", { after, ...WAIT });
    expect(told.params).toMatchObject({ threadId, turn: { status: "completed" } });
    for (const wire of [other, one]) {
      wire.end();
      await wire.exited;
    }
  },
  TEST_MS,
);

function spawnServer(workspace: string, home: string, args: readonly string[] = ["app-server"]): WireClient {
  return WireClient.spawn([FLINT_CODEX, ...args], { cwd: workspace, env: environmentIn(home) });
}

function text(words: string) {
  return [{ type: "text", text: words }];
}

/** A session of the real codex-acp, whose Codex is Flint. */
async function codexAcp(): Promise<{ acp: WireClient; sessionId: unknown }> {
  const { workspace, home } = await sdkPlace();
  const acp = WireClient.spawn([agentProgram("codex-acp") ?? "codex-acp"], {
    cwd: workspace,
    // In its usual mode a second model would be asked instead of us.
    env: { ...environmentIn(home), CODEX_PATH: FLINT_CODEX, INITIAL_AGENT_MODE: "read-only" },
    header: true,
  });
  await acp.request("initialize", { protocolVersion: 1, clientCapabilities: {} }, WAIT);
  const made = asMessage(await acp.request("session/new", { cwd: workspace, mcpServers: [] }, WAIT));
  return { acp, sessionId: made.sessionId };
}

async function decide(acp: WireClient, after: number, kind: string): Promise<void> {
  const asked = await acp.waitForMethod("session/request_permission", { after, ...WAIT });
  const { options } = asMessage(asked.params);
  const option = Array.isArray(options) ? options.find((each) => asMessage(each).kind === kind) : undefined;
  const { optionId } = asMessage(option);
  acp.answer(asked.id, { outcome: { outcome: "selected", optionId } });
}

function updatesIn(acp: WireClient, from: number): WireMessage[] {
  return acp.messages
    .slice(from)
    .filter(({ method }) => method === "session/update")
    .map(({ params }) => asMessage(asMessage(params).update));
}

function saidIn(acp: WireClient, from: number): string {
  const chunks = updatesIn(acp, from).filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
  return chunks.map(({ content }) => String(asMessage(content).text ?? "")).join("");
}

/** A client that does what t3code's runtime does, and keeps every answer to be looked at. */
class T3Client {
  readonly wire: WireClient;
  readonly #schemas: CodexSchemas;
  readonly #answers: { readonly method: string; readonly result: unknown }[] = [];
  #asked = 0;

  private constructor(wire: WireClient, schemas: CodexSchemas) {
    this.wire = wire;
    this.#schemas = schemas;
  }

  static async start(workspace: string, home: string): Promise<T3Client> {
    return new T3Client(spawnServer(workspace, home), await CodexSchemas.generate());
  }

  async call(method: string, params: object): Promise<unknown> {
    const result = await this.wire.request(method, params, WAIT);
    this.#answers.push({ method, result });
    return result;
  }

  async startThread(params: object): Promise<unknown> {
    return asMessage(asMessage(await this.call("thread/start", params)).thread).id;
  }

  /** The turns of the thread that a request is answered with. */
  async turnsOf(method: string, params: object): Promise<unknown> {
    return asMessage(asMessage(await this.call(method, params)).thread).turns;
  }

  /** Runs a turn, and resolves with how it ended and everything that was said in it. */
  async turn(params: object): Promise<WireMessage> {
    const after = this.wire.mark;
    const { id } = asMessage(asMessage(await this.call("turn/start", params)).turn);
    const ended = await this.wire.waitFor(
      ({ method, params: told }) => method === "turn/completed" && asMessage(asMessage(told).turn).id === id,
      { after, ...WAIT },
    );
    return { ...asMessage(asMessage(ended.params).turn), told: this.wire.messages.slice(after) };
  }

  /** Answers the next request of this kind. */
  async decide(method: string, decision: string): Promise<void> {
    const request = await this.wire.waitForMethod(method, { after: this.#asked, ...WAIT });
    this.#asked = this.wire.messages.indexOf(request) + 1;
    this.wire.answer(request.id, { decision });
  }

  /** Stops the turn that runs, once it says something. */
  async interrupt(threadId: unknown): Promise<void> {
    const delta = await this.wire.waitForMethod("item/agentMessage/delta", {
      after: this.wire.mark,
      ...WAIT,
    });
    const { turnId } = asMessage(delta.params);
    await this.call("turn/interrupt", { threadId, turnId });
  }

  async end(): Promise<void> {
    this.wire.end();
    await this.wire.exited;
  }

  /** Everything that the schemas of Codex do not allow. */
  async problems(): Promise<string[]> {
    const told = this.wire.messages.filter(({ method }) => method !== undefined);
    const found = await Promise.all([
      ...this.#answers.map(({ method, result }) => this.#schemas.problemsOfAnswer(method, result)),
      ...told.map((message) => this.#schemas.problemsOfMessage(message)),
    ]);
    return [...new Set(found.flat())];
  }
}
