import { FlintError, type ThreadEvent, threadIdOf } from "@flint/protocol";
import { idText, type RpcError } from "@flint/rpc";
import { ClientAsks } from "../shared/client-asks.ts";
import type { Client, ClientHandler, RequestContext } from "../shared/frontend.ts";
import { parseParams } from "../shared/parse-params.ts";
import { capabilitiesV1, capabilitiesV2, NO_CAPABILITIES } from "./capabilities.ts";
import type { FrontendServices, InitializedClient } from "./client-state.ts";
import { authenticate, authStatus, type Login, logout } from "./login.ts";
import { Prompts } from "./prompt/prompts.ts";
import { ACP_REQUESTS, type AcpParams, type AcpRequest, requestsOf, rowOf } from "./requests.ts";
import { AUTO_RESUME_OPTION } from "./sessions/config-options.ts";
import { OpenSessions } from "./sessions/open-sessions.ts";
import { SessionSettings } from "./sessions/settings.ts";
import { listSessions, sessionStatus, setSessionTitle } from "./sessions/stored-sessions.ts";
import { V1 } from "./v1/protocol.ts";
import { V2 } from "./v2/protocol.ts";
import { ACP_NOTIFICATIONS, AcpError, rpcErrorOf } from "./vocabulary.ts";

type Handler<Name extends AcpRequest> = (params: AcpParams<Name>, context: RequestContext) => Promise<void>;
type Handlers = { readonly [Name in AcpRequest]: Handler<Name> };

/** Handles one client of the ACP front end. */
export class AcpClientHandler implements ClientHandler {
  readonly #asks: ClientAsks;
  readonly #settings: SessionSettings;
  readonly #sessions: OpenSessions;
  readonly #prompts: Prompts;
  readonly #logins: readonly Login[];
  #isInitialized = false;
  #self: InitializedClient = { version: V1, capabilities: NO_CAPABILITIES, name: "" };

  constructor(client: Client, shared: FrontendServices) {
    this.#asks = new ClientAsks(client, {
      onWithdrawn: ({ id }) => client.notify("$/cancel_request", { requestId: id }),
    });
    this.#logins = shared.logins;
    const self = () => this.#self;
    this.#settings = new SessionSettings(client.core, shared, self);
    this.#sessions = new OpenSessions({ client, asks: this.#asks, shared, settings: this.#settings, self });
    this.#prompts = new Prompts({
      core: client.core,
      sessions: this.#sessions,
      settings: this.#settings,
      self,
    });
  }

  async request(params: unknown, context: RequestContext): Promise<void> {
    const { method } = context;
    const name = this.#requestNamed(method);
    if (!this.#isInitialized && name !== "initialize") {
      throw new FlintError("notInitialized", `Send "initialize" before ${JSON.stringify(method)}.`);
    }
    // The row and the handler have the same name; the union has lost which belong together.
    const handler = this.#handlers[name] as (params: unknown, context: RequestContext) => Promise<void>;
    await handler(parseParams(rowOf(name, this.#self.version.version), method, params), context);
  }

  notification(method: string, params: unknown): void | Promise<void> {
    if (method === "session/cancel") {
      const parsed = ACP_NOTIFICATIONS[method].params.safeParse(params);
      if (parsed.success) return this.#prompts.cancel(parsed.data.sessionId);
    }
    if (method === "$/cancel_request") {
      const parsed = ACP_NOTIFICATIONS[method].params.safeParse(params);
      if (parsed.success) return this.#prompts.cancelRequest(idText(parsed.data.requestId));
    }
  }

  event(event: ThreadEvent): void {
    const threadId = threadIdOf(event);
    if (threadId !== undefined) this.#sessions.find(threadId)?.event(event);
  }

  errorOf(error: FlintError): RpcError {
    return rpcErrorOf(error);
  }

  close(): void {
    this.#sessions.closeAll();
    this.#asks.forgetAll();
  }

  #requestNamed(method: string): AcpRequest {
    const known = requestsOf(this.#self.version.version);
    if (isRequest(method) && known.includes(method)) return method;
    const shortened = JSON.stringify(method.slice(0, 100));
    const message = `Method not found: ${shortened}. The acp protocol has: ${known.join(", ")}.`;
    throw new FlintError("methodNotFound", message);
  }

  async #initialize(params: AcpParams<"initialize">, { core, reply }: RequestContext): Promise<void> {
    const self = initializedClient(params);
    // Set before the response is sent: a client may send further requests without waiting for it.
    this.#self = self;
    this.#isInitialized = true;
    const { clientInfo, info } = params;
    const { name = "acp client", title, version } = (self.version === V2 ? info : clientInfo) ?? {};
    const named = { name, version: version ?? "unknown", ...(title == null ? {} : { title }) };
    await core.call("initialize", { clientInfo: named }, ({ agentInfo }) =>
      reply(self.version.initializeResponse(agentInfo.version, self.capabilities, this.#logins)),
    );
  }

  readonly #handlers: Handlers = {
    initialize: (params, context) => this.#initialize(params, context),
    authenticate: (params, context) => authenticate(params, context, this.#logins),
    logout,
    "auth/login": (params, context) => authenticate(params, context, this.#logins),
    "auth/logout": logout,
    "auth/status": authStatus,
    "session/new": (params, context) => this.#sessions.create(params, context),
    "session/load": (params, context) => this.#sessions.load(params, context),
    "session/resume": (params, context) => this.#sessions.resume(params, context),
    "session/fork": (params, context) => this.#sessions.fork(params, context),
    "session/delete": (params, context) => this.#sessions.delete(params, context),
    "session/close": (params, context) => this.#sessions.close(params, context),
    "session/list": listSessions,
    "session/status": sessionStatus,
    "session/set_title": setSessionTitle,
    "session/prompt": (params, context) => this.#prompts.prompt(params, context),
    "_session/steering": (params, context) => this.#prompts.steer(params, context),
    "session/set_mode": async ({ sessionId, modeId }, { reply }) =>
      this.#settings.setMode(await this.#sessions.get(sessionId), modeId, () => reply({})),
    "session/set_model": async ({ sessionId, modelId }, { reply }) =>
      this.#settings.setModel(await this.#sessions.get(sessionId), modelId, () => reply({})),
    "session/set_config_option": async ({ sessionId, configId, value }, { reply }) => {
      const session = await this.#sessions.get(sessionId);
      await this.#settings.setOption(session, configId, String(value), reply);
      // A user who turns it on wants to continue the session at hand.
      if (configId === AUTO_RESUME_OPTION) this.#sessions.recordUse(session);
    },
  };
}

function initializedClient(params: AcpParams<"initialize">): InitializedClient {
  const { protocolVersion: requested, clientInfo, info, clientCapabilities, capabilities } = params;
  if (!Number.isInteger(requested) || requested < 1) {
    const message = `Protocol version ${requested} is not supported; 1 and 2 are.`;
    throw new AcpError("unsupportedVersion", message, { requested, supported: [1, 2] });
  }
  return requested >= 2
    ? { version: V2, capabilities: capabilitiesV2(capabilities), name: info?.name ?? "" }
    : { version: V1, capabilities: capabilitiesV1(clientCapabilities), name: clientInfo?.name ?? "" };
}

function isRequest(method: string): method is AcpRequest {
  return Object.hasOwn(ACP_REQUESTS, method);
}
