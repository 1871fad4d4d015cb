import { asFlintError, type ErrorKind, FlintError } from "@flint/protocol";

/** An error with the message of the real server, which clients match on. */
export function codexError(message: string, kind: ErrorKind = "invalidRequest"): FlintError {
  return new FlintError(kind, message);
}

/**
 * The message of the real server for a missing thread, which differs between requests. Clients that then start a new
 * thread instead of resuming look for "not found", which its own message lacks.
 */
const THREAD_NOT_FOUND: Readonly<Record<string, (threadId: string) => string>> = {
  "thread/resume": (threadId) => `${noRollout(threadId)} (thread not found)`,
  "thread/fork": noRollout,
  "thread/archive": noRollout,
  "thread/delete": noRollout,
  "thread/name/set": noRollout,
  "thread/unarchive": (threadId) => `no archived rollout found for thread id ${threadId}`,
  "thread/read": notLoaded,
  "thread/turns/list": notLoaded,
  "thread/items/list": notLoaded,
};

function noRollout(threadId: string): string {
  return `no rollout found for thread id ${threadId}`;
}

function notLoaded(threadId: string): string {
  return `thread not loaded: ${threadId}`;
}

function notFound(threadId: string): string {
  return `thread not found: ${threadId}`;
}

/** The params of a request that its error messages name. */
interface NamedParams {
  readonly threadId?: unknown;
  readonly expectedTurnId?: unknown;
  readonly turnId?: unknown;
  readonly cursor?: unknown;
}

/** An error of the core with the message of the real server, where that has one. */
export function toCodexError(thrown: unknown, method: string, params: unknown): FlintError {
  const error = asFlintError(thrown);
  const named: NamedParams = Object(params);
  const message = messageFor(error, method, named);
  if (message === undefined) return error;
  return new FlintError(error.kind, message, error.data, { cause: error });
}

function messageFor(error: FlintError, method: string, named: NamedParams): string | undefined {
  switch (error.kind) {
    case "threadNotFound":
      return (THREAD_NOT_FOUND[method] ?? notFound)(String(named.threadId));
    case "turnNotFound":
      return error.data.turnId === undefined ? undefined : `turn not found: ${error.data.turnId}`;
    case "invalidParams":
      return error.data.field === "cursor"
        ? `invalid cursor: ${String(named.cursor).slice(0, 200)}`
        : undefined;
    case "notRunning":
      return notRunning(error, method, named);
    default:
      return undefined;
  }
}

function notRunning({ data }: FlintError, method: string, named: NamedParams): string | undefined {
  const { activeTurnId } = data;
  if (method === "turn/steer") {
    if (activeTurnId === undefined) return "no active turn to steer";
    return `expected active turn id \`${named.expectedTurnId}\` but found \`${activeTurnId}\``;
  }
  if (method !== "turn/interrupt") return undefined;
  if (activeTurnId === undefined) return "no active turn to interrupt";
  return `expected active turn id ${named.turnId} but found ${activeTurnId}`;
}

/** A problem that a schema found in params. */
export interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: unknown;
  readonly values?: unknown;
  readonly options?: unknown;
  readonly errors?: unknown;
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: "a string",
  number: "u32",
  int: "u32",
  boolean: "a boolean",
  array: "a sequence",
  object: "a map",
  record: "a map",
};

/** The problem with params, in the message format of serde, as the real server reports it. Clients read the text, not the code. */
export function problemText(issue: Issue, params: unknown): string {
  const value = valueAt(params, issue.path);
  const name = issue.path.at(-1);
  if (value === undefined && name !== undefined) return `missing field \`${String(name)}\``;
  if (issue.code === "invalid_type") return wrongType(value, issue.expected);
  if (issue.code === "too_small" && typeof value === "number")
    return `invalid value: ${serdeTypeName(value)}, expected u32`;
  const variants =
    issue.code === "invalid_union"
      ? (strings(issue.options) ?? nestedVariants(issue))
      : strings(issue.values);
  if (variants !== undefined && typeof value === "string") return unknownVariant(value, variants);
  if (issue.code === "invalid_union") return nestedText(issue, value);
  return issue.message;
}

/** The message for a name that is not one of the known ones. */
export function unknownVariant(name: string, known: readonly string[]): string {
  const [first = "", second = ""] = known.map(quoted);
  if (known.length === 1) return `unknown variant \`${name}\`, expected ${first}`;
  if (known.length === 2) return `unknown variant \`${name}\`, expected ${first} or ${second}`;
  return `unknown variant \`${name}\`, expected one of ${known.map(quoted).join(", ")}`;
}

function quoted(name: string): string {
  return `\`${name}\``;
}

function wrongType(value: unknown, expected: unknown): string {
  const type = EXPECTED[String(expected)] ?? String(expected);
  return `invalid type: ${serdeTypeName(value)}, expected ${type}`;
}

/** A value as serde names it. */
export function serdeTypeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "sequence";
  switch (typeof value) {
    case "string":
      return `string ${JSON.stringify(value)}`;
    case "number":
      return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
    case "boolean":
      return `boolean \`${value}\``;
    default:
      return "map";
  }
}

function valueAt(params: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce(
    (value: unknown, key) => (value === null ? value : Reflect.get(Object(value), key)),
    params,
  );
}

function strings(values: unknown): readonly string[] | undefined {
  return Array.isArray(values) && values.length > 0 ? values.map(String) : undefined;
}

/** Returns the issues of each variant of a union. */
function variantsOf({ errors }: Issue): readonly (readonly Issue[])[] {
  // Unions report a list of problems for each of their variants.
  return Array.isArray(errors) ? (errors as readonly (readonly Issue[])[]) : [];
}

/** The names that the first variant of a union takes, if it takes names. */
function nestedVariants(issue: Issue): readonly string[] | undefined {
  const plain = variantsOf(issue).find((variant) => variant[0]?.path.length === 0);
  return strings(plain?.[0]?.values);
}

/** The message of the variant that comes nearest. */
function nestedText(issue: Issue, value: unknown): string {
  const [nearest] = [...variantsOf(issue)].sort((left, right) => left.length - right.length);
  return nearest?.[0] === undefined ? issue.message : problemText(nearest[0], value);
}
