import { FlintError, type ThreadEvent, threadIdOf } from "@flint/protocol";
import { idText, type RpcError } from "@flint/rpc";
import type { Client, ClientHandler } from "../shared/frontend.ts";
import { parseParams } from "../shared/parse-params.ts";
import type { RequestContext } from "../shared/request-context.ts";
import { RequestNumbers } from "./asks/asks.ts";
import { type ClientCapabilities, capabilitiesV1, capabilitiesV2, NO_CAPABILITIES } from "./capabilities.ts";
import { answerOf } from "./core.ts";
import { AcpRefusal, refusalOf } from "./errors.ts";
import { LOGINS, loginId } from "./login.ts";
import { Prompting } from "./prompt/prompts.ts";
import type { ProtocolVersion } from "./protocol-version.ts";
import { ACP_REQUESTS, type AcpParams, type AcpRequest, requestsOf, rowOf } from "./requests.ts";
import { AUTO_RESUME_OPTION } from "./sessions/config-options.ts";
import { Sessions } from "./sessions/open-sessions.ts";
import { SessionSettings } from "./sessions/settings.ts";
import { StoredSessions } from "./sessions/stored-sessions.ts";
import type { SharedState } from "./shared-state.ts";
import { V1 } from "./v1/protocol.ts";
import { V2 } from "./v2/protocol.ts";
import { ACP_NOTIFICATIONS } from "./vocabulary.ts";

type Reply = (answer: unknown) => void;
type Handlers = {
  readonly [Name in AcpRequest]: (params: AcpParams<Name>, reply: Reply, key: string) => Promise<void>;
};

/** Serves one client. */
export class AcpClientHandler implements ClientHandler {
  readonly #client: Client;
  readonly #numbers = new RequestNumbers();
  readonly #sessions: Sessions;
  readonly #stored: StoredSessions;
  readonly #settings: SessionSettings;
  readonly #prompting: Prompting;
  #capabilities: ClientCapabilities | undefined;
  #version: ProtocolVersion = V1;
  #kind = "";

  constructor(client: Client, shared: SharedState) {
    this.#client = client;
    const capabilities = () => this.#capabilities ?? NO_CAPABILITIES;
    this.#settings = new SessionSettings(client, shared, capabilities, () => this.#version);
    this.#sessions = new Sessions({
      client,
      shared,
      settings: this.#settings,
      kind: () => this.#kind,
      session: () => ({
        client,
        capabilities: capabilities(),
        numbers: this.#numbers,
        lines: shared.lines,
        version: this.#version,
        onChoices: (session) => void this.#settings.refresh(session),
      }),
    });
    this.#stored = new StoredSessions(client);
    this.#prompting = new Prompting({
      client,
      sessions: this.#sessions,
      settings: this.#settings,
      acknowledgesPrompts: () => this.#version.acknowledgesPrompts,
    });
  }

  async request(params: unknown, { method, id, reply }: RequestContext): Promise<void> {
    const name = this.#known(method);
    if (this.#capabilities === undefined && name !== "initialize") {
      throw new FlintError("notInitialized", `Send "initialize" before ${JSON.stringify(method)}.`);
    }
    // The row belongs to the handler of the same name; the union has lost which belongs to which.
    const handler = this.#handlers[name] as (given: unknown, reply: Reply, key: string) => Promise<void>;
    await handler(parseParams(rowOf(name, this.#version.version), method, params), reply, idText(id));
  }

  notification(method: string, params: unknown): void | Promise<void> {
    if (method === "session/cancel") {
      const parsed = ACP_NOTIFICATIONS[method].params.safeParse(params);
      if (parsed.success) return this.#prompting.cancel(parsed.data.sessionId);
    }
    if (method === "$/cancel_request") {
      const parsed = ACP_NOTIFICATIONS[method].params.safeParse(params);
      if (parsed.success) return this.#prompting.cancelRequest(idText(parsed.data.requestId));
    }
  }

  event(event: ThreadEvent): void {
    const threadId = threadIdOf(event);
    if (threadId !== undefined) this.#sessions.opened(threadId)?.tell(event);
  }

  errorOf(error: FlintError): RpcError {
    return refusalOf(error);
  }

  close(): void {
    this.#sessions.closeAll();
  }

  #known(method: string): AcpRequest {
    const known = requestsOf(this.#version.version);
    if (isRequest(method) && known.includes(method)) return method;
    const message = `Method not found: ${JSON.stringify(method.slice(0, 100))}. The acp door knows: ${known.join(", ")}.`;
    throw new FlintError("methodNotFound", message);
  }

  async #initialize(params: AcpParams<"initialize">, reply: Reply): Promise<void> {
    const { protocolVersion: requested, clientInfo, info, clientCapabilities, capabilities: given } = params;
    if (!Number.isInteger(requested) || requested < 1) {
      const data = { requested, supported: [1, 2] };
      throw new AcpRefusal(
        "unsupportedVersion",
        `Version ${requested} is not spoken here; 1 and 2 are.`,
        data,
      );
    }
    const isSecond = requested >= 2;
    const named = isSecond ? info : clientInfo;
    // From here on, not from the answer on: a client may send what follows in the same breath.
    this.#version = isSecond ? V2 : V1;
    const capabilities = isSecond ? capabilitiesV2(given) : capabilitiesV1(clientCapabilities);
    this.#capabilities = capabilities;
    this.#kind = named?.name ?? "";
    const who = { name: named?.name ?? "acp client", version: named?.version ?? "unknown" };
    await this.#client.core.call("initialize", { clientInfo: who }, ({ agentInfo }) => {
      reply(this.#version.initializeResponse(agentInfo.version, capabilities));
    });
  }

  async #authenticate({ methodId }: AcpParams<"authenticate">, reply: Reply): Promise<void> {
    const login = LOGINS.find(({ agent }) => loginId(agent) === methodId);
    if (login === undefined) {
      const known = LOGINS.map(({ agent }) => loginId(agent));
      const message = `There is no login method ${JSON.stringify(methodId)}. Known: ${known.join(", ")}.`;
      throw new FlintError("invalidParams", message, { field: "methodId", known });
    }
    const { requiresLogin, provider } = await answerOf(this.#client, "account/read", {});
    if (requiresLogin && provider === login.agent) {
      throw new AcpRefusal("authRequired", `${login.name} is not logged in. Run: ${login.command}`);
    }
    reply({});
  }

  async #logout(_params: AcpParams<"logout">, _reply: Reply): Promise<void> {
    const message =
      "Flint has no account of its own. Log out with the agent itself, such as: claude auth logout, codex logout.";
    throw new FlintError("unsupported", message);
  }

  async #authStatus(_params: AcpParams<"auth/status">, reply: Reply): Promise<void> {
    const { account, requiresLogin } = await answerOf(this.#client, "account/read", {});
    const label = account?.label ?? account?.type;
    const accounts = label === undefined ? {} : { accounts: [{ label }] };
    reply({ state: requiresLogin ? "unauthenticated" : "authenticated", ...accounts });
  }

  readonly #handlers: Handlers = {
    initialize: (params, reply) => this.#initialize(params, reply),
    authenticate: (params, reply) => this.#authenticate(params, reply),
    logout: (params, reply) => this.#logout(params, reply),
    "auth/login": (params, reply) => this.#authenticate(params, reply),
    "auth/logout": (params, reply) => this.#logout(params, reply),
    "auth/status": (params, reply) => this.#authStatus(params, reply),
    "session/new": (params, reply) => this.#sessions.begin(params, reply),
    "session/load": (params, reply) => this.#sessions.load(params, reply),
    "session/resume": (params, reply) => this.#sessions.resume(params, reply),
    "session/fork": (params, reply) => this.#sessions.fork(params, reply),
    "session/list": (params, reply) => this.#stored.list(params, reply),
    "session/delete": (params, reply) => this.#sessions.delete(params, reply),
    "session/close": (params, reply) => this.#sessions.close(params, reply),
    "session/status": (params, reply) => this.#stored.status(params, reply),
    "session/set_title": (params, reply) => this.#stored.entitle(params, reply),
    "session/prompt": (params, reply, key) => this.#prompting.prompt(params, reply, key),
    "_session/steering": (params, reply) => this.#prompting.steer(params, reply),
    "session/set_mode": async ({ sessionId, modeId }, reply) =>
      this.#settings.setMode(await this.#sessions.get(sessionId), modeId, () => reply({})),
    "session/set_model": async ({ sessionId, modelId }, reply) =>
      this.#settings.setModel(await this.#sessions.get(sessionId), modelId, () => reply({})),
    "session/set_config_option": async ({ sessionId, configId, value }, reply) => {
      const session = await this.#sessions.get(sessionId);
      await this.#settings.setOption(session, configId, String(value), reply);
      // Whoever turns it on means the session at hand.
      if (configId === AUTO_RESUME_OPTION) this.#sessions.worksIn(session);
    },
  };
}

function isRequest(method: string): method is AcpRequest {
  return Object.hasOwn(ACP_REQUESTS, method);
}
