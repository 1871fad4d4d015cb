import { FlintError } from "@flint/protocol";
import {
  CODEX_CLIENT_REQUESTS,
  CODEX_EXPERIMENTAL_FIELDS,
  CODEX_EXPERIMENTAL_REQUESTS,
  type CodexClientRequest,
  isCodexClientRequest,
} from "@flint/protocol/codex";
import { codexError, described, problemText, unknownVariant } from "./errors.ts";

/** What a client sent about itself with `initialize`. */
export interface CodexClientInfo {
  readonly name: string;
  readonly version: string;
  readonly experimentalApi: boolean;
  /** The notifications that it opted out of. */
  readonly optedOut: ReadonlySet<string>;
}

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
    throw invalid(unknownVariant(shorten(method), Object.keys(CODEX_CLIENT_REQUESTS)));
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

/** What the real server calls the params of a request. */
function structOf(method: string): string {
  return `${method.replace(/(?:^|\/)(\w)/g, (_all, letter: string) => letter.toUpperCase())}Params`;
}

function experimental(what: string): FlintError {
  return codexError(`${what} requires experimentalApi capability`);
}

function invalid(problem: string): FlintError {
  return new FlintError("invalidRequest", `Invalid request: ${problem}`);
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`;
}

/** What a client sent about itself with `initialize`. */
export function clientInfoOf(params: unknown): CodexClientInfo {
  const { clientInfo, capabilities } = CODEX_CLIENT_REQUESTS.initialize.params.parse(params);
  return {
    name: clientInfo.name,
    version: clientInfo.version,
    experimentalApi: capabilities?.experimentalApi === true,
    optedOut: new Set(capabilities?.optOutNotificationMethods ?? []),
  };
}

/** The fields of an object that are neither null nor absent, which mean the same on this wire. */
export type Given<Fields> = { [Name in keyof Fields]?: NonNullable<Fields[Name]> };

/** Leaves out fields that are null or undefined. */
export function given<Fields extends object>(fields: Fields): Given<Fields> {
  const rest: unknown = Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null));
  // Only fields of the object are left, and none of them is null.
  return rest as Given<Fields>;
}

/** A UUID in its canonical form, or what is wrong with it as the real server reports it. */
export type ParsedUuid = { readonly uuid: string } | { readonly problem: string };

const GROUPS = [8, 4, 4, 4, 12];
const PREFIX = "urn:uuid:";

/** Parses a UUID as the real server does: in groups, also after `urn:uuid:` or in braces, or as 32 digits in a row. */
export function parseUuid(text: string): ParsedUuid {
  const { digits, offset } = unwrapped(text);
  const index = digits.search(/[^0-9a-fA-F-]/);
  if (index !== -1) return { problem: invalidCharacter(digits, index, offset) };
  const groups = digits.split("-");
  if (groups.length === 1 && offset === 0) return parseSimple(digits);
  if (groups.length !== GROUPS.length)
    return { problem: `invalid group count: expected ${GROUPS.length}, found ${groups.length}` };
  const wrong = GROUPS.findIndex((length, at) => groups[at]?.length !== length);
  if (wrong === -1) return { uuid: digits.toLowerCase() };
  return {
    problem: `invalid group length in group ${wrong}: expected ${GROUPS[wrong]}, found ${groups[wrong]?.length}`,
  };
}

/** What follows the prefix or is between the braces, and its offset. */
function unwrapped(text: string): { readonly digits: string; readonly offset: number } {
  if (text.startsWith(PREFIX)) return { digits: text.slice(PREFIX.length), offset: PREFIX.length };
  if (text.length > 1 && text.startsWith("{") && text.endsWith("}"))
    return { digits: text.slice(1, -1), offset: 1 };
  return { digits: text, offset: 0 };
}

function parseSimple(digits: string): ParsedUuid {
  if (digits.length !== 32)
    return { problem: `invalid length: expected length 32 for simple format, found ${digits.length}` };
  const uuid = digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-").toLowerCase();
  return { uuid };
}

function invalidCharacter(digits: string, index: number, offset: number): string {
  const found = String.fromCodePoint(digits.codePointAt(index) ?? 0);
  return `invalid character: expected an optional prefix of \`urn:uuid:\` followed by [0-9a-fA-F-], found \`${found}\` at ${offset + index + 1}`;
}
