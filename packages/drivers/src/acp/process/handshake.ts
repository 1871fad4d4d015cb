import type { InitializeRequest, McpServer } from "@agentclientprotocol/sdk";
import type { McpServerConfig } from "@flint/core/ports";
import { FlintError, listOf, stringOf } from "@flint/protocol";
import { RemoteError } from "@flint/rpc";
import type { AgentProgram } from "../../shared/agent.ts";
import { type JsonObject, objectOf } from "../../shared/json.ts";
import { ACP_CODES, type AcpConnection } from "./connection.ts";
import type { AgentStart } from "./launch.ts";

/** The protocol version that is offered. Some agents answer a higher one with a draft version. */
const PROTOCOL_VERSION = 1;

/** An opened session. */
export interface OpenedSession {
  readonly sessionId: string;
  /** True if it is new, so that it knows nothing of the thread. */
  readonly isFresh: boolean;
  /** True if it is a copy of the session of another thread. */
  readonly isCopy?: boolean;
  readonly response: JsonObject;
  /** Warnings for the user about how it was opened. */
  readonly warnings: readonly string[];
}

/** Initializes an agent and opens its session. */
export class Handshake {
  readonly #connection: AcpConnection;
  readonly #start: AgentStart;
  readonly #program: AgentProgram;

  constructor(connection: AcpConnection, start: AgentStart, program: AgentProgram) {
    this.#connection = connection;
    this.#start = start;
    this.#program = program;
  }

  /** Resolves with the agent's response to `initialize`. */
  async initialize(): Promise<JsonObject> {
    const { version, profile } = this.#start.options;
    const { displayName, offersFiles, offersTerminals } = profile;
    const params: InitializeRequest = {
      protocolVersion: PROTOCOL_VERSION,
      clientInfo: { name: "flint", title: "Flint", version },
      clientCapabilities: {
        fs: { readTextFile: offersFiles, writeTextFile: offersFiles },
        terminal: offersTerminals,
        session: { configOptions: { boolean: {} }, compaction: {}, notices: {} },
        elicitation: { form: {}, url: {} },
      },
    };
    const initialized = await this.#request("initialize", params);
    if (initialized.protocolVersion === PROTOCOL_VERSION) return initialized;
    const spoken = JSON.stringify(initialized.protocolVersion);
    const message = `${displayName} uses version ${spoken} of the Agent Client Protocol and Flint uses ${PROTOCOL_VERSION}. Install another version of it.`;
    throw new FlintError("agentFailed", message);
  }

  /** Opens a session: resumes the thread's own if the agent still has it, else copies another, else begins one. */
  async open(initialized: JsonObject, mcpServers: readonly McpServer[]): Promise<OpenedSession> {
    const { nativeId, settings, options } = this.#start;
    const workspace = { cwd: settings.cwd, mcpServers };
    const resumed = nativeId === undefined ? undefined : await this.#resume(initialized, nativeId, workspace);
    if (resumed !== undefined && nativeId !== undefined)
      return { sessionId: nativeId, isFresh: false, response: resumed, warnings: [] };
    const warnings: string[] = [];
    const copy = await this.#fork(initialized, workspace, warnings);
    if (copy !== undefined) return copy;
    const response = await this.#create(initialized, workspace);
    const sessionId = stringOf(response.sessionId);
    if (sessionId !== undefined) return { sessionId, isFresh: true, response, warnings };
    throw new FlintError("agentFailed", `${options.profile.displayName} opened a session without an id.`);
  }

  /** The response if the session was resumed; undefined if the agent no longer has it, or cannot resume any. */
  async #resume(
    initialized: JsonObject,
    sessionId: string,
    workspace: object,
  ): Promise<JsonObject | undefined> {
    const method = resumeMethod(initialized);
    if (method === undefined) return undefined;
    // Expected: a session that is gone. The conversation continues in a new one.
    try {
      return await this.#request(method, { sessionId, ...workspace });
    } catch (thrown) {
      if (thrown instanceof RemoteError && thrown.code !== ACP_CODES.authRequired) return undefined;
      throw this.#orLoginRequired(initialized, thrown);
    }
  }

  /** A copy of another thread's session, if there is one and the agent can. A copy that fails is a warning. */
  async #fork(
    initialized: JsonObject,
    workspace: object,
    warnings: string[],
  ): Promise<OpenedSession | undefined> {
    const { nativeId, forkOf, options } = this.#start;
    const canFork = isOffered(objectOf(objectOf(initialized.agentCapabilities).sessionCapabilities).fork);
    if (nativeId !== undefined || forkOf === undefined || !canFork) return undefined;
    // Expected: a session that is gone, or that this process cannot find.
    try {
      const response = await this.#request("session/fork", { sessionId: forkOf, ...workspace });
      const sessionId = stringOf(response.sessionId);
      if (sessionId !== undefined && sessionId !== forkOf)
        return { sessionId, isFresh: false, isCopy: true, response, warnings };
    } catch (thrown) {
      if (!(thrown instanceof RemoteError)) throw thrown;
    }
    warnings.push(
      `${options.profile.displayName} could not continue from a copy of its session, so it gets a summary of the thread instead.`,
    );
    return undefined;
  }

  async #create(initialized: JsonObject, workspace: object): Promise<JsonObject> {
    // Expected: an agent without a login. An API key that it was given may be all it needs.
    try {
      return await this.#request("session/new", workspace);
    } catch (thrown) {
      const { apiKeyLogin } = this.#start.options.profile;
      const hasKey =
        apiKeyLogin !== undefined && Object.hasOwn(this.#program.environment, apiKeyLogin.variable);
      if (!isAuthRequired(thrown) || !hasKey) throw this.#orLoginRequired(initialized, thrown);
      await this.#request("authenticate", { methodId: apiKeyLogin.methodId });
      return await this.#request("session/new", workspace).catch((again) => {
        throw this.#orLoginRequired(initialized, again);
      });
    }
  }

  #orLoginRequired(initialized: JsonObject, thrown: unknown): unknown {
    if (!isAuthRequired(thrown)) return thrown;
    const { displayName, login } = this.#start.options.profile;
    const methods = listOf(initialized.authMethods).flatMap((method) => {
      const { name, description } = objectOf(method);
      return stringOf(description) ?? stringOf(name) ?? [];
    });
    const hint = login === undefined ? [] : [`Run: ${login.hint}.`];
    const offered = methods.length === 0 ? [] : [`It offers: ${methods.join("; ")}.`];
    const message = [`${displayName} is not logged in.`, ...hint, ...offered].join(" ");
    return new FlintError("agentFailed", message, { reason: "loginRequired" }, { cause: thrown });
  }

  #request(method: string, params: object): Promise<JsonObject> {
    return this.#connection.request(method, params, this.#start.options.profile.startMs);
  }
}

/** The MCP servers that an agent can connect to, and a warning for each of the others. */
export function mcpServersFor(
  configured: readonly McpServerConfig[],
  initialized: JsonObject,
): { readonly servers: readonly McpServer[]; readonly warnings: readonly string[] } {
  const takesHttp = objectOf(objectOf(initialized.agentCapabilities).mcpCapabilities).http === true;
  const usable = configured.filter(({ type }) => type === "stdio" || takesHttp);
  const unusable = configured.filter((server) => !usable.includes(server));
  const warnings = unusable.map(
    ({ name }) => `The agent does not support HTTP MCP servers; ${name} is not available.`,
  );
  return { servers: usable.map(mcpServer), warnings };
}

function mcpServer(server: McpServerConfig): McpServer {
  const pairs = (values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => ({ name, value }));
  const { name } = server;
  if (server.type === "http") return { type: "http", name, url: server.url, headers: pairs(server.headers) };
  return { name, command: server.command, args: [...server.args], env: pairs(server.env) };
}

/** Reports whether a capability is offered, with any value. */
function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null && capability !== false;
}

function isAuthRequired(thrown: unknown): boolean {
  return thrown instanceof RemoteError && thrown.code === ACP_CODES.authRequired;
}

/** The method with which an agent goes on with a session of another process; undefined if it has none. */
export function resumeMethod(initialized: JsonObject): "session/resume" | "session/load" | undefined {
  const capabilities = objectOf(initialized.agentCapabilities);
  if (isOffered(objectOf(capabilities.sessionCapabilities).resume)) return "session/resume";
  return capabilities.loadSession === true ? "session/load" : undefined;
}
