import type { Clock } from "@flint/core/ports";
import { FlintError, shortened, type ThreadEvent } from "@flint/protocol";
import {
  CODEX,
  CODEX_CLIENT_REQUESTS,
  CODEX_EXPERIMENTAL_FIELDS,
  CODEX_EXPERIMENTAL_REQUESTS,
  CODEX_VERSION,
  type CodexClientRequest,
  type CodexThreadStatus,
  isCodexClientRequest,
} from "@flint/protocol/codex";
import type { RpcError } from "@flint/rpc";
import { ClientAsks } from "../shared/client-asks.ts";
import type { Encoded } from "../shared/encoder.ts";
import type { Client, ClientHandler, RequestContext } from "../shared/frontend.ts";
import { type CodexMessage, notification, type OutgoingNotification } from "./events/events.ts";
import { accounts } from "./host/accounts.ts";
import { lists, models } from "./host/catalog.ts";
import { config } from "./host/config.ts";
import type { CodexHost } from "./host/host.ts";
import { machine } from "./host/machine.ts";
import { Ordering } from "./ordering/ordering.ts";
import {
  type CodexClient,
  type CodexClientInfo,
  type Handler,
  type Handlers,
  KnownThreads,
} from "./requests/handler.ts";
import { history } from "./requests/history.ts";
import { openThread } from "./requests/open-thread.ts";
import { threads } from "./requests/threads.ts";
import { TitleThreads } from "./requests/title-threads.ts";
import { queue, turns } from "./requests/turns.ts";
import { encodeNotification } from "./wire/encoding.ts";
import { codexError, problemText, serdeTypeName, toCodexError, unknownVariant } from "./wire/errors.ts";
import type { RequestedPolicies } from "./wire/policies.ts";
import { parseUuid } from "./wire/values.ts";

/** Services shared by all clients of the Codex front end. */
export interface FrontendServices {
  readonly host: CodexHost;
  readonly clock: Clock;
  readonly policies: RequestedPolicies;
  /** Converts an event to messages, encoded once for all clients. */
  encode(event: ThreadEvent): readonly Encoded<CodexMessage>[];
  /** The id of the request under a key, which is the same for all clients. */
  requestId(key: string): number;
}

/** Serves one client of the Codex front end. */
export class CodexClientHandler implements ClientHandler, CodexClient {
  readonly host: CodexHost;
  readonly policies: RequestedPolicies;
  readonly threads = new KnownThreads();
  readonly titles: TitleThreads;
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #asks: ClientAsks;
  readonly #ordering: Ordering;
  #info: CodexClientInfo | undefined;

  constructor(client: Client, { host, clock, policies, encode, requestId }: FrontendServices) {
    this.host = host;
    this.policies = policies;
    this.#client = client;
    this.#clock = clock;
    this.#asks = new ClientAsks(client, {
      requestId,
      // Every client that was asked is sent this, also the one that answered.
      onResolved: ({ id: requestId, threadId }) =>
        this.notify(notification("serverRequest/resolved", { threadId, requestId })),
    });
    this.#ordering = new Ordering({ clock, encode, send: (message) => this.#send(message) });
    this.titles = new TitleThreads(clock, (event) => this.#ordering.immediate(event));
  }

  /** The information that the client sent with `initialize`. Throws before that. */
  get info(): CodexClientInfo {
    if (this.#info === undefined) throw codexError("Not initialized", "notInitialized");
    return this.#info;
  }

  async request(params: unknown, context: RequestContext): Promise<void> {
    const request = parseRequest(context.method, params, this.#info);
    // Set before the answer is sent: a client may send further requests without waiting for it.
    if (request.method === "initialize") this.#introduce(request.params);
    try {
      await handlerOf(request)(request.params, context, this);
    } catch (error) {
      throw toCodexError(error, request.method, request.params);
    }
  }

  #introduce(params: unknown): void {
    this.#info = clientInfoOf(params);
    this.#client.introduce(this.#info.title ?? this.#info.name);
  }

  notification(): void {
    // `initialized` is the only one, and it changes nothing: not every client sends it.
  }

  event(event: ThreadEvent): void {
    this.threads.observe(event);
    this.#ordering.event(event);
    if (event.type === "thread/closed" || event.type === "thread/deleted") this.forget(event.data.threadId);
  }

  threadListEvent(event: ThreadEvent): void {
    if (this.#info !== undefined) this.#ordering.immediate(event);
  }

  errorOf(error: FlintError): RpcError {
    return { code: CODEX.errorCodes[error.kind], message: error.message };
  }

  /** The real server does not answer a line that is not a message; an answer without an id would fit no schema. */
  malformed(): undefined {
    return undefined;
  }

  close(): void {
    this.#asks.forgetAll();
    this.#ordering.forget();
    this.threads.forgetAll();
  }

  isSubscribed(threadId: string): boolean {
    return this.#client.isSubscribed(threadId);
  }

  notify(message: OutgoingNotification): void {
    const line = encodeNotification(message.method, message.params, this.#clock.now());
    this.#ordering.line({ kind: "line", line, notification: message });
  }

  learnStatus(threadId: string, status: CodexThreadStatus): void {
    this.#ordering.learnStatus(threadId, status);
  }

  forget(threadId: string): void {
    this.threads.forget(threadId);
    this.#asks.forget(threadId);
    this.#ordering.forget(threadId);
  }

  #send(message: Encoded<CodexMessage>): void {
    switch (message.kind) {
      case "line":
        if (this.#info?.optedOut.has(message.notification.method) !== true)
          this.#client.sendLine(message.line);
        break;
      case "ask":
        this.#asks.ask(message);
        break;
      case "resolved":
        this.#asks.resolve(message.key);
        break;
      default:
        message satisfies never;
    }
  }
}

type AnyHandler = (params: unknown, context: RequestContext, client: CodexClient) => unknown;

/** The handler of a request, for params that were checked by the row of the same name. */
function handlerOf({ method }: ParsedRequest): AnyHandler {
  const handler: unknown = REQUESTS[method];
  // Name, params and handler belong together; the union has lost which belong to which.
  return handler as AnyHandler;
}

/** Answers with the version of Codex whose protocol this is, so that clients take Flint for it. */
const initialize: Handler<"initialize"> = (_params, context, { host, info }) => {
  const { name, version } = info;
  context.reply({
    userAgent: `${name}/${CODEX_VERSION} (flint) (${name}; ${version})`,
    codexHome: host.home,
    platformFamily: process.platform === "win32" ? "windows" : "unix",
    platformOs: process.platform === "darwin" ? "macos" : process.platform,
  });
};

/** The handler of each request of a Codex client. */
export const REQUESTS: Handlers<CodexClientRequest> = {
  initialize,
  ...openThread,
  ...history,
  ...threads,
  ...queue,
  ...turns,
  ...models,
  ...accounts,
  ...lists,
  ...machine,
  ...config,
};

/** A request with its params checked. */
export interface ParsedRequest {
  readonly method: CodexClientRequest;
  readonly params: unknown;
}

/** Requests that the real server takes without any params. */
const WITHOUT_PARAMS: ReadonlySet<string> = new Set([
  "account/logout",
  "account/rateLimits/read",
  "config/mcpServer/reload",
  "configRequirements/read",
]);

/** Checks a request in the order of the real server: method and params, then the handshake, then what is experimental. */
export function parseRequest(
  method: string,
  params: unknown,
  client: CodexClientInfo | undefined,
): ParsedRequest {
  if (!isCodexClientRequest(method))
    throw invalid(unknownVariant(shortened(method, 100), Object.keys(CODEX_CLIENT_REQUESTS)));
  if (params === undefined && !WITHOUT_PARAMS.has(method)) throw invalid("missing field `params`");
  if (Array.isArray(params))
    throw invalid(`invalid length ${params.length}, expected struct ${structOf(method)}`);
  if (params !== undefined && typeof params !== "object")
    throw invalid(`invalid type: ${serdeTypeName(params)}, expected struct ${structOf(method)}`);
  const read = CODEX_CLIENT_REQUESTS[method].params.safeParse(params ?? {});
  if (!read.success) {
    const [issue] = read.error.issues;
    throw invalid(issue === undefined ? "no params" : problemText(issue, params));
  }
  if (method === "initialize") {
    if (client !== undefined) throw codexError("Already initialized", "alreadyInitialized");
  } else if (client === undefined) throw codexError("Not initialized", "notInitialized");
  else if (!client.experimentalApi) rejectExperimental(method, read.data);
  return { method, params: withThreadId(method, read.data) };
}

function rejectExperimental(method: CodexClientRequest, params: object): void {
  if (CODEX_EXPERIMENTAL_REQUESTS.has(method)) throw experimental(method);
  for (const field of CODEX_EXPERIMENTAL_FIELDS[method] ?? []) {
    if ((Reflect.get(params, field) ?? null) !== null) throw experimental(`${method}.${field}`);
  }
  const policy: unknown = Reflect.get(params, "approvalPolicy");
  if (typeof policy === "object" && policy !== null) throw experimental("askForApproval.granular");
}

/** Requests in which the real server calls a thread a session. */
const SESSION_REQUESTS: ReadonlySet<string> = new Set([
  "thread/resume",
  "thread/fork",
  "thread/archive",
  "thread/unarchive",
]);

/** Thread ids are UUIDs on this wire, in any of their forms; nothing else ever becomes a path. */
function withThreadId(method: string, params: object): object {
  const threadId: unknown = Reflect.get(params, "threadId");
  if (typeof threadId !== "string") return params;
  const read = parseUuid(threadId);
  if ("uuid" in read) return { ...params, threadId: read.uuid };
  const what = SESSION_REQUESTS.has(method) ? "session" : "thread";
  throw codexError(`invalid ${what} id: ${read.problem}`);
}

/** Returns the name that the real server has for the params of a request. */
function structOf(method: string): string {
  return `${method.replace(/(?:^|\/)(\w)/g, (_all, letter: string) => letter.toUpperCase())}Params`;
}

function experimental(what: string): FlintError {
  return codexError(`${what} requires experimentalApi capability`);
}

function invalid(problem: string): FlintError {
  return new FlintError("invalidRequest", `Invalid request: ${problem}`);
}

/** Parses the information that a client sent about itself with `initialize`. */
export function clientInfoOf(params: unknown): CodexClientInfo {
  const { clientInfo, capabilities } = CODEX_CLIENT_REQUESTS.initialize.params.parse(params);
  return {
    name: clientInfo.name,
    title: clientInfo.title ?? undefined,
    version: clientInfo.version,
    experimentalApi: capabilities?.experimentalApi === true,
    optedOut: new Set(capabilities?.optOutNotificationMethods ?? []),
  };
}
