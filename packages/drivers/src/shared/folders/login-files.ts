import { isDeepStrictEqual } from "node:util";
import { isRecord } from "@flint/protocol";

/**
 * A file that holds a login and no code. What a sandboxed agent makes of it is stored only if it is still that: anything
 * else could make the agent run a program later, outside of the sandbox.
 */
export interface LoginFile {
  readonly name: string;
  /** Reports whether the agent may add or change this entry of the file; all others stay as they were. */
  readonly isRenewable: (key: string, value: unknown) => boolean;
}

/** A login file with these entries. */
export function loginFile(name: string, ...keys: readonly string[]): LoginFile {
  return { name, isRenewable: (key) => keys.includes(key) };
}

/** Claude's; the secrets of plugins in it are not Claude's to change here. */
export const CLAUDE_LOGIN = loginFile(
  ".credentials.json",
  ...["claudeAiOauth", "mcpOAuth", "mcpOAuthClientConfig", "organizationUuid", "trustedDeviceToken"],
);

/** Codex's. */
export const CODEX_LOGIN = loginFile(
  "auth.json",
  ...["auth_mode", "OPENAI_API_KEY", "tokens", "last_refresh", "agent_identity", "personal_access_token"],
);

/**
 * OpenCode's, with one entry for each provider. One of type "wellknown" makes OpenCode set a variable and load a
 * configuration from the network, so no other types than these can be added.
 */
export const OPENCODE_LOGINS: readonly LoginFile[] = [
  {
    name: "auth.json",
    isRenewable: (_, value) => isRecord(value) && (value.type === "oauth" || value.type === "api"),
  },
  { name: "mcp-auth.json", isRenewable: (_, value) => isRecord(value) },
];

/** Gemini's. */
export const GEMINI_LOGINS: readonly LoginFile[] = [
  loginFile(
    "oauth_creds.json",
    ...["access_token", "refresh_token", "id_token", "token_type", "scope", "expiry_date"],
  ),
  loginFile("google_accounts.json", "active", "old"),
];

/** Names of files that probably hold a login, of agents that are not known. */
export const LIKELY_LOGIN = /^[\w.-]*(?:auth|cred|token|account|login)[\w.-]*\.json$/i;

/**
 * Reports whether the new content of a login file may replace the old one; undefined if there was no file.
 */
export function isRenewal({ isRenewable }: LoginFile, before: string | undefined, after: string): boolean {
  const old = before === undefined ? {} : objectIn(before);
  const renewed = objectIn(after);
  if (old === undefined || renewed === undefined || Object.keys(renewed).length === 0) return false;
  const isFine = ([key, value]: readonly [string, unknown]) =>
    (Object.hasOwn(old, key) && isDeepStrictEqual(old[key], value)) ||
    (isRenewable(key, value) && isPlain({ [key]: value }));
  return (
    Object.keys(old).every((key) => Object.hasOwn(renewed, key)) && Object.entries(renewed).every(isFine)
  );
}

/** The same for a file of an agent that is not known: texts and numbers in it may change, and nothing may be added. */
export function isSameShape(before: string | undefined, after: string): boolean {
  const [old, renewed] = [before === undefined ? undefined : objectIn(before), objectIn(after)];
  return old !== undefined && renewed !== undefined && isPlain(renewed) && hasShapeOf(old, renewed);
}

function hasShapeOf(old: unknown, renewed: unknown): boolean {
  if (Array.isArray(old)) return isDeepStrictEqual(old, renewed);
  if (!isRecord(old)) return typeof old === typeof renewed && !isRecord(renewed);
  if (!isRecord(renewed)) return false;
  const keys = Object.keys(old);
  return (
    keys.length === Object.keys(renewed).length &&
    keys.every((key) => Object.hasOwn(renewed, key) && hasShapeOf(old[key], renewed[key]))
  );
}

/** Words in the names of settings that name programs. */
const PROGRAM_WORDS: ReadonlySet<string> = new Set(
  "command cmd helper exec executable program script hook hooks shell args env plugin plugins".split(" "),
);

const MAX_DEPTH = 8;
const MAX_TEXT = 64 * 1024;

/**
 * Reports whether a value is data: nothing in it names a program, and its texts have no control characters.
 */
function isPlain(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.length <= MAX_TEXT && !/\p{Cc}/u.test(value);
  if (typeof value !== "object" || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  return Object.entries(value).every(([key, inner]) => !namesProgram(key) && isPlain(inner, depth + 1));
}

function namesProgram(key: string): boolean {
  const words = key.split(/(?=[A-Z][a-z])|[_-]/).map((word) => word.toLowerCase());
  return key === "__proto__" || words.some((word) => PROGRAM_WORDS.has(word));
}

/** Expected: it is not JSON, or being written. */
function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}
