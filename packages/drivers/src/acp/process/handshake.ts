import type { InitializeRequest, McpServer } from "@agentclientprotocol/sdk";
import type { McpServerConfig } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { RemoteError } from "@flint/rpc";
import type { AgentProgram } from "../../shared/agent-options.ts";
import { type JsonObject, listOf, objectOf, stringOf } from "../wire.ts";
import type { AcpConnection } from "./connection.ts";
import type { AgentWish } from "./launch.ts";
import { ACP_CODES } from "./request-refusal.ts";

/** The version of the protocol that is spoken. More must not be offered: some agents answer with a draft then. */
const PROTOCOL_VERSION = 1;

/** A session, and how it came to be. */
export interface OpenedSession {
  readonly sessionId: string;
  readonly isFresh: boolean;
  /** Whether it is a copy of the session of another thread. */
  readonly isCopy?: boolean;
  readonly answer: JsonObject;
  /** What the user should know about how it came to be. */
  readonly notes: readonly string[];
}

/** The first words with an agent. */
export class Handshake {
  readonly #connection: AcpConnection;
  readonly #wish: AgentWish;
  readonly #program: AgentProgram;

  constructor(connection: AcpConnection, wish: AgentWish, program: AgentProgram) {
    this.#connection = connection;
    this.#wish = wish;
    this.#program = program;
  }

  /** Says hello. Resolves with what the agent says about itself. */
  async greet(): Promise<JsonObject> {
    const { version, profile } = this.#wish.options;
    const params: InitializeRequest = {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "flint", title: "Flint", version },
      clientCapabilities: {
        fs: { readTextFile: profile.fs, writeTextFile: profile.fs },
        terminal: profile.terminal,
        session: { configOptions: { boolean: {} }, compaction: {}, notices: {} },
        elicitation: { form: {}, url: {} },
      },
    };
    const hello = await this.#ask("initialize", params);
    if (hello.protocolVersion === PROTOCOL_VERSION) return hello;
    const spoken = JSON.stringify(hello.protocolVersion);
    const message = `${profile.displayName} speaks version ${spoken} of the Agent Client Protocol and Flint speaks ${PROTOCOL_VERSION}. Install another version of it.`;
    throw new FlintError("agentFailed", message);
  }

  /** Opens a session, the one of an earlier time if the agent still has it. */
  async open(hello: JsonObject, servers: readonly McpServer[]): Promise<OpenedSession> {
    const { nativeId, settings } = this.#wish;
    const place = { cwd: settings.cwd, mcpServers: servers };
    const taken = nativeId === undefined ? undefined : await this.#takeUp(hello, nativeId, place);
    if (taken !== undefined && nativeId !== undefined)
      return { sessionId: nativeId, isFresh: false, answer: taken, notes: [] };
    const notes: string[] = [];
    const copy = await this.#copy(hello, place, notes);
    if (copy !== undefined) return copy;
    const answer = await this.#begin(hello, place);
    const sessionId = stringOf(answer.sessionId);
    if (sessionId !== undefined) return { sessionId, isFresh: true, answer, notes };
    throw new FlintError(
      "agentFailed",
      `${this.#wish.options.profile.displayName} opened a session without an id.`,
    );
  }

  /** The answer if the session could be taken up; the agent may have forgotten it, or never been able to. */
  async #takeUp(hello: JsonObject, sessionId: string, place: object): Promise<JsonObject | undefined> {
    const abilities = objectOf(hello.agentCapabilities);
    const canResume = objectOf(abilities.sessionCapabilities).resume;
    const isResumable = canResume !== undefined && canResume !== null && canResume !== false;
    if (!isResumable && abilities.loadSession !== true) return undefined;
    // Expected: a session that is gone. The conversation goes on in a new one.
    try {
      return await this.#ask(isResumable ? "session/resume" : "session/load", { sessionId, ...place });
    } catch (thrown) {
      if (thrown instanceof RemoteError && thrown.code !== ACP_CODES.authRequired) return undefined;
      throw this.#orLogin(hello, thrown);
    }
  }

  /** A copy of another thread's session, if there is one and the agent can; if it says so and cannot, that is noted. */
  async #copy(hello: JsonObject, place: object, notes: string[]): Promise<OpenedSession | undefined> {
    const { nativeId, forkOf, options } = this.#wish;
    const canFork = objectOf(objectOf(hello.agentCapabilities).sessionCapabilities).fork;
    const isOffered = canFork !== undefined && canFork !== null && canFork !== false;
    if (nativeId !== undefined || forkOf === undefined || !isOffered) return undefined;
    // Expected: a session that is gone, or one that this process cannot find. It is told in words what happened.
    try {
      const answer = await this.#ask("session/fork", { sessionId: forkOf, ...place });
      const sessionId = stringOf(answer.sessionId);
      if (sessionId !== undefined && sessionId !== forkOf)
        return { sessionId, isFresh: false, isCopy: true, answer, notes };
    } catch (thrown) {
      if (!(thrown instanceof RemoteError)) throw thrown;
    }
    notes.push(
      `${options.profile.displayName} could not go on from a copy of its session, so it is told what happened in words.`,
    );
    return undefined;
  }

  async #begin(hello: JsonObject, place: object): Promise<JsonObject> {
    // Expected: an agent that nobody is logged in to. A key that it was given may be all it needs.
    try {
      return await this.#ask("session/new", place);
    } catch (thrown) {
      const { keyLogin } = this.#wish.options.profile;
      const hasKey = keyLogin !== undefined && Object.hasOwn(this.#program.environment, keyLogin.variable);
      if (!isAuthRequired(thrown) || !hasKey) throw this.#orLogin(hello, thrown);
      await this.#ask("authenticate", { methodId: keyLogin.methodId });
      return await this.#ask("session/new", place).catch((again) => {
        throw this.#orLogin(hello, again);
      });
    }
  }

  #orLogin(hello: JsonObject, thrown: unknown): unknown {
    if (!isAuthRequired(thrown)) return thrown;
    const { displayName, login } = this.#wish.options.profile;
    const ways = listOf(hello.authMethods).flatMap((method) => {
      const { name, description } = objectOf(method);
      return stringOf(description) ?? stringOf(name) ?? [];
    });
    const known = login === undefined ? [] : [`Run: ${login.hint}.`];
    const told = ways.length === 0 ? [] : [`It offers: ${ways.join("; ")}.`];
    const message = [`${displayName} is not logged in.`, ...known, ...told].join(" ");
    return new FlintError("agentFailed", message, { reason: "loginRequired" }, { cause: thrown });
  }
  #ask(method: string, params: object): Promise<JsonObject> {
    return this.#connection.request(method, params, this.#wish.options.profile.startMs);
  }
}

/** The MCP servers that an agent can connect to, and what is to be said about the others. */
export function mcpServersFor(
  configured: readonly McpServerConfig[],
  hello: JsonObject,
): { readonly servers: readonly McpServer[]; readonly notes: readonly string[] } {
  const takesHttp = objectOf(objectOf(hello.agentCapabilities).mcpCapabilities).http === true;
  const usable = configured.filter(({ type }) => type === "stdio" || takesHttp);
  const left = configured.filter((server) => !usable.includes(server));
  const notes = left.map(
    ({ name }) => `The agent takes no MCP servers over HTTP, so it goes without ${name}.`,
  );
  return { servers: usable.map(mcpServer), notes };
}

function mcpServer(server: McpServerConfig): McpServer {
  const pairs = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => ({ name, value }));
  const { name } = server;
  if (server.type === "http") return { type: "http", name, url: server.url, headers: pairs(server.headers) };
  return { name, command: server.command, args: [...server.args], env: pairs(server.env) };
}

function isAuthRequired(thrown: unknown): boolean {
  return thrown instanceof RemoteError && thrown.code === ACP_CODES.authRequired;
}
