import { FlintError } from "@flint/protocol";
import {
  CODEX_CLIENT_REQUESTS,
  CODEX_EXPERIMENTAL_FIELDS,
  CODEX_EXPERIMENTAL_REQUESTS,
  type CodexClientRequest,
  isCodexClientRequest,
} from "@flint/protocol/codex";
import { refused } from "./refusals.ts";
import { described, problemText, unknownVariant } from "./serde-text.ts";
import { readUuid } from "./uuid.ts";

/** What a client said about itself. */
export interface Hello {
  readonly name: string;
  readonly version: string;
  readonly experimentalApi: boolean;
  /** The notifications that it does not want. */
  readonly unwanted: ReadonlySet<string>;
}

/** A request that was found to be one. */
export interface Understood {
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

/** Checks a request in the order of the real server: its words, whether hello was said, what is experimental. */
export function understand(method: string, params: unknown, hello: Hello | undefined): Understood {
  if (!isCodexClientRequest(method))
    throw invalid(unknownVariant(shortened(method), Object.keys(CODEX_CLIENT_REQUESTS)));
  if (params === undefined && !WITHOUT_PARAMS.has(method)) throw invalid("missing field `params`");
  if (Array.isArray(params))
    throw invalid(`invalid length ${params.length}, expected struct ${structOf(method)}`);
  if (params !== undefined && typeof params !== "object")
    throw invalid(`invalid type: ${described(params)}, expected struct ${structOf(method)}`);
  const read = CODEX_CLIENT_REQUESTS[method].params.safeParse(params ?? {});
  if (!read.success) {
    const [issue] = read.error.issues;
    throw invalid(issue === undefined ? "no params" : problemText(issue, params));
  }
  if (method === "initialize") {
    if (hello !== undefined) throw refused("Already initialized", "alreadyInitialized");
  } else if (hello === undefined) throw refused("Not initialized", "notInitialized");
  else if (!hello.experimentalApi) refuseExperiments(method, read.data);
  return { method, params: withThreadId(method, read.data) };
}

function refuseExperiments(method: CodexClientRequest, params: object): void {
  if (CODEX_EXPERIMENTAL_REQUESTS.has(method)) throw experimental(method);
  for (const field of CODEX_EXPERIMENTAL_FIELDS[method] ?? []) {
    if ((Reflect.get(params, field) ?? null) !== null) throw experimental(`${method}.${field}`);
  }
  const policy: unknown = Reflect.get(params, "approvalPolicy");
  if (typeof policy === "object" && policy !== null) throw experimental("askForApproval.granular");
}

/** Requests in which the real server calls a thread a session. */
const OF_SESSIONS: ReadonlySet<string> = new Set([
  "thread/resume",
  "thread/fork",
  "thread/archive",
  "thread/unarchive",
]);

/** Thread ids are UUIDs on this wire, in any of their forms; whatever is not one never becomes a path. */
function withThreadId(method: string, params: object): object {
  const threadId: unknown = Reflect.get(params, "threadId");
  if (typeof threadId !== "string") return params;
  const read = readUuid(threadId);
  if ("uuid" in read) return { ...params, threadId: read.uuid };
  const what = OF_SESSIONS.has(method) ? "session" : "thread";
  throw refused(`invalid ${what} id: ${read.problem}`);
}

/** What the real server calls the params of a request. */
function structOf(method: string): string {
  return `${method.replace(/(?:^|\/)(\w)/g, (_all, letter: string) => letter.toUpperCase())}Params`;
}

function experimental(what: string): FlintError {
  return refused(`${what} requires experimentalApi capability`);
}

function invalid(problem: string): FlintError {
  return new FlintError("invalidRequest", `Invalid request: ${problem}`);
}

function shortened(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

/** What a client says about itself with its hello. */
export function helloOf(params: unknown): Hello {
  const { clientInfo, capabilities } = CODEX_CLIENT_REQUESTS.initialize.params.parse(params);
  return {
    name: clientInfo.name,
    version: clientInfo.version,
    experimentalApi: capabilities?.experimentalApi === true,
    unwanted: new Set(capabilities?.optOutNotificationMethods ?? []),
  };
}
