import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { WireClient, WireMessage } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { spawnServer, WAIT } from "../codex/flint-codex.ts";
import { CodexSchemas } from "../codex/schemas.ts";
import { asMessage } from "../server.ts";

/** The token with which t3code's MCP server is called. */
export const T3_TOKEN = "t3-session-secret";

/** The params with which t3code introduces itself. */
export const T3_HELLO = {
  clientInfo: { name: "t3code_desktop", title: "T3 Code Desktop", version: "0.0.33" },
  capabilities: { experimentalApi: true },
};

/** The settings of t3code in each of its modes, sent when it opens a thread and with every turn. */
export const T3_MODES = {
  "approval-required": t3Mode("untrusted", "read-only", { type: "readOnly" }),
  "auto-accept-edits": t3Mode("on-request", "workspace-write", { type: "workspaceWrite" }),
  "full-access": t3Mode("never", "danger-full-access", { type: "dangerFullAccess" }),
} as const;

function t3Mode(approvalPolicy: string, sandbox: string, sandboxPolicy: object) {
  const asking = { approvalPolicy, approvalsReviewer: "user" };
  return { thread: { ...asking, sandbox }, turn: { ...asking, sandboxPolicy } };
}

/** Returns the reasoning effort and the collaboration mode as t3code sends them with every turn. */
export function effortOf(model: unknown) {
  const settings = { model, reasoning_effort: "medium", developer_instructions: "You are in T3 Code." };
  return { effort: "medium", collaborationMode: { mode: "default", settings } };
}

/** A client that does what t3code's runtime does, and keeps every answer to be looked at. */
export class T3Client {
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
    return new T3Client(spawnServer(workspace, home, args, env), await CodexSchemas.print());
  }

  async greet(): Promise<void> {
    const { userAgent } = asMessage(await this.call("initialize", T3_HELLO));
    // Where it takes the version from.
    expect(userAgent).toMatch(/^\S+\/\d+\.\d+\.\d+\s/);
    this.wire.notify("initialized");
  }

  /** Sends the requests that it makes before anything begins. */
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

  /** Runs a turn, and resolves with how it ended and all of its messages. */
  async turn(params: object): Promise<WireMessage> {
    await this.#reload();
    const after = this.wire.mark;
    const { id } = asMessage(asMessage(await this.call("turn/start", params)).turn);
    const ended = await this.wire.waitFor(
      ({ method, params: received }) =>
        method === "turn/completed" && asMessage(asMessage(received).turn).id === id,
      { after, ...WAIT },
    );
    return { ...asMessage(asMessage(ended.params).turn), received: this.wire.messages.slice(after) };
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

  /** Interrupts the running turn after its first message. */
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
  problems(): string[] {
    const sent = this.wire.messages.filter(({ method }) => method !== undefined);
    const found = [
      ...this.#answers.flatMap(({ method, result }) => this.#schemas.answer(method, result)),
      ...sent.flatMap((message) =>
        "id" in message ? this.#schemas.serverRequest(message) : this.#schemas.notification(message),
      ),
    ];
    return [...new Set(found)];
  }
}

/** Stands where t3code has the MCP server of its own tools, and notes who asks; it has no tools. */
export class T3Mcp {
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

  /** The arguments with which t3code passes it to Codex, along with a server that its user has disabled. */
  get args(): string[] {
    // It listens at a port, so its address is one of those.
    const { port } = this.#server.address() as AddressInfo;
    return [
      ...["-c", `mcp_servers.t3-code.url=http://127.0.0.1:${port}/mcp`],
      ...["-c", 'mcp_servers.t3-code.bearer_token_env_var="T3_MCP_BEARER_TOKEN"'],
      ...["-c", "mcp_servers.unwanted.enabled=false"],
    ];
  }
}
