import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { agentProgram, needs, WireClient, type WireMessage } from "@flint/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
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
    const mcp = await T3Mcp.start();
    const probe = await T3Client.start(workspace, home);
    const { model } = await probe.probe(workspace);
    await probe.end();

    const client = await T3Client.start(workspace, home, mcp);
    await client.greet();
    const opening = { cwd: workspace, ...T3_MODES["auto-accept-edits"].thread, model };
    const threadId = await client.startThread(opening);
    const settings = { threadId, ...T3_MODES["auto-accept-edits"].turn, model, ...effortOf(model) };

    const plain = await client.turn({ ...settings, input: text("hello") });
    expect(plain).toMatchObject({ status: "completed" });
    expect(mcp.authorizations).toContain(`Bearer ${T3_TOKEN}`);

    const accepted = client.turn({ ...settings, input: text("run `touch t3.txt`") });
    await client.decide("item/commandExecution/requestApproval", "accept");
    expect(await accepted).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "t3.txt"))).toBe(true);

    const declined = client.turn({ ...settings, input: text("run `touch no.txt`") });
    await client.decide("item/commandExecution/requestApproval", "decline");
    expect(await declined).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "no.txt"))).toBe(false);

    const written = client.turn({ ...settings, input: text("write `lantern` to t3b.txt") });
    await client.decide("item/fileChange/requestApproval", "acceptForSession");
    expect(await written).toMatchObject({ status: "completed" });
    expect(await readFile(join(workspace, "t3b.txt"), "utf8")).toContain("lantern");

    const asked = client.turn({ ...settings, input: text("ask me which colour: red or blue") });
    await client.choose("blue");
    expect(await asked).toMatchObject({ status: "completed" });

    const watched = { ...settings, ...T3_MODES["approval-required"].turn };
    const refused = client.turn({ ...watched, input: text("write `no` to no.txt") });
    expect(await refused).toMatchObject({ status: "completed" });
    expect(existsSync(join(workspace, "no.txt"))).toBe(false);

    const long = client.turn({ ...settings, input: text("count to 100000") });
    await client.interrupt(threadId);
    expect(await long).toMatchObject({ status: "interrupted" });

    const turns = await client.turnsOf("thread/read", { threadId, includeTurns: true });
    expect(turns).toHaveLength(7);
    const left = await client.turnsOf("thread/rollback", { threadId, numTurns: 1 });
    expect(left).toHaveLength(6);
    await client.compact(threadId);
    await client.end();

    const later = await T3Client.start(workspace, home, mcp);
    await later.greet();
    const resumed = await later.call("thread/resume", { threadId, ...opening, excludeTurns: true });
    expect(resumed).toMatchObject({ cwd: workspace, model, thread: { id: threadId } });
    const again = await later.turn({ ...settings, input: text("what did I ask before?") });
    expect(again).toMatchObject({ status: "completed" });
    const nobody = "01a1e316-321b-7052-93ed-a40b0e39ea25";
    // The word and one of these make t3code begin a new thread instead.
    await expect(later.wire.request("thread/resume", { ...opening, threadId: nobody })).rejects.toThrow(
      /thread.*(not found|missing|no such|unknown|does not exist|no rollout found)|(no such|unknown|missing) thread/i,
    );
    await later.end();
    for (const each of [probe, client, later]) {
      expect(await each.problems()).toEqual([]);
      // Each line there is a warning in t3code's window.
      expect(each.wire.stderr).toBe("");
    }
  },
  TEST_MS,
);

test(
  "the mode of t3code in which nobody is asked and nothing is confined needs the user's word, and says how to give it",
  async () => {
    const { workspace, home } = await sdkPlace();
    const open = async () => {
      const wire = spawnServer(workspace, home);
      await wire.request("initialize", T3_HELLO, WAIT);
      const wanted = { cwd: workspace, ...T3_MODES["full-access"].thread };
      const opened = await wire.request("thread/start", wanted, WAIT).catch((error: Error) => error.message);
      wire.end();
      await wire.exited;
      return opened;
    };
    expect(await open()).toContain("--allow-unconfined");
    await writeFile(join(home, "config.toml"), "allow_unconfined = true\n");
    expect(await open()).toMatchObject({ approvalPolicy: "never", sandbox: { type: "dangerFullAccess" } });
  },
  TEST_MS,
);

test(
  "titles and commit messages that t3code has written by `codex exec` are in the file it names",
  async () => {
    const { workspace, home } = await sdkPlace();
    const [schema, output] = [join(home, "schema.json"), join(home, "output.json")];
    const properties = { title: { type: "string" } };
    await writeFile(schema, JSON.stringify({ type: "object", properties, required: ["title"] }));
    await writeFile(output, "");
    const args = [
      ...["exec", "--ephemeral", "--skip-git-repo-check", "-s", "read-only", "--model", "flint/offline"],
      ...["--config", 'model_reasoning_effort="low"'],
      ...["--output-schema", schema, "--output-last-message", output, "-"],
    ];
    const options = { cwd: workspace, env: environmentIn(home), input: "Write a title for: fix the lamp" };
    const { status, stderr } = spawnSync(FLINT_CODEX, args, { ...options, encoding: "utf8" });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(JSON.parse(await readFile(output, "utf8"))).toEqual({ title: expect.any(String) });
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

function spawnServer(
  workspace: string,
  home: string,
  args: readonly string[] = ["app-server"],
  env: Readonly<Record<string, string>> = {},
): WireClient {
  return WireClient.spawn([FLINT_CODEX, ...args], {
    cwd: workspace,
    env: { ...environmentIn(home), ...env },
  });
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

  /** Started for a session, it has the MCP server of t3code's own tools; one only to look around has not. */
  static async start(workspace: string, home: string, mcp?: T3Mcp): Promise<T3Client> {
    const args = ["app-server", ...(mcp?.args ?? [])];
    const env = { T3_MCP_BEARER_TOKEN: T3_TOKEN };
    return new T3Client(spawnServer(workspace, home, args, env), await CodexSchemas.generate());
  }

  async greet(): Promise<void> {
    const { userAgent } = asMessage(await this.call("initialize", T3_HELLO));
    // Where it takes the version from.
    expect(userAgent).toMatch(/^\S+\/\d+\.\d+\.\d+\s/);
    this.wire.notify("initialized");
  }

  /** What it wants to know before anything begins. */
  async probe(workspace: string): Promise<{ readonly model: unknown }> {
    await this.greet();
    const [, , { data }] = await Promise.all([
      this.call("account/read", {}),
      this.call("skills/list", { cwds: [workspace] }),
      this.call("model/list", {}).then(asMessage),
    ]);
    return { model: asMessage(Array.isArray(data) ? data[0] : undefined).model };
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
    await this.#reload();
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

  /** Has its MCP servers looked at again, as it does before every turn; what has no params comes without the field. */
  async #reload(): Promise<void> {
    const id = `reload-${this.wire.mark}`;
    this.wire.send({ id, method: "config/mcpServer/reload" });
    const { result } = await this.wire.waitFor((message) => message.id === id, WAIT);
    this.#answers.push({ method: "config/mcpServer/reload", result });
  }

  /** Answers the next question of the agent. */
  async choose(answer: string): Promise<void> {
    const request = await this.wire.waitForMethod("item/tool/requestUserInput", {
      after: this.#asked,
      ...WAIT,
    });
    this.#asked = this.wire.messages.indexOf(request) + 1;
    const { questions } = asMessage(request.params);
    const ids = Array.isArray(questions) ? questions.map((question) => String(asMessage(question).id)) : [];
    const answers = Object.fromEntries(ids.map((id) => [id, { answers: [answer] }]));
    this.wire.answer(request.id, { answers });
  }

  /** Makes room in the context, and waits until that is done. */
  async compact(threadId: unknown): Promise<void> {
    const after = this.wire.mark;
    await this.call("thread/compact/start", { threadId });
    await this.wire.waitForMethod("turn/completed", { after, ...WAIT });
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

const T3_TOKEN = "t3-session-secret";
const T3_HELLO = {
  clientInfo: { name: "t3code_desktop", title: "T3 Code Desktop", version: "0.0.33" },
  capabilities: { experimentalApi: true },
};

/** What t3code asks for in each of its modes, when it opens a thread and with every turn. */
const T3_MODES = {
  "approval-required": t3Mode("untrusted", "read-only", { type: "readOnly" }),
  "auto-accept-edits": t3Mode("on-request", "workspace-write", { type: "workspaceWrite" }),
  "full-access": t3Mode("never", "danger-full-access", { type: "dangerFullAccess" }),
} as const;

function t3Mode(approvalPolicy: string, sandbox: string, sandboxPolicy: object) {
  const asking = { approvalPolicy, approvalsReviewer: "user" };
  return { thread: { ...asking, sandbox }, turn: { ...asking, sandboxPolicy } };
}

/** How hard the agent is to think and in which way it works, as t3code says it with every turn. */
function effortOf(model: unknown) {
  const settings = { model, reasoning_effort: "medium", developer_instructions: "You are in T3 Code." };
  return { effort: "medium", collaborationMode: { mode: "default", settings } };
}

/** Stands where t3code has the MCP server of its own tools, and notes who asks; it has no tools. */
class T3Mcp {
  readonly authorizations: (string | undefined)[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", ({ headers }, response) => {
      this.authorizations.push(headers.authorization);
      response.writeHead(503).end();
    });
  }

  static async start(): Promise<T3Mcp> {
    const server = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    return new T3Mcp(server);
  }

  /** How t3code tells Codex of it, and of a server that its user has turned off. */
  get args(): string[] {
    const { port } = this.#server.address() as AddressInfo;
    return [
      ...["-c", `mcp_servers.t3-code.url=http://127.0.0.1:${port}/mcp`],
      ...["-c", 'mcp_servers.t3-code.bearer_token_env_var="T3_MCP_BEARER_TOKEN"'],
      ...["-c", "mcp_servers.unwanted.enabled=false"],
    ];
  }
}
