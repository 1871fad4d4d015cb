import { isRecord } from "@flint/protocol";

/** What an endpoint says about an error, in whichever shape. */
export interface ErrorDetails {
  readonly message: string;
  /** Every `code` and `type` it gives. */
  readonly codes: readonly string[];
  /** The parameter it complains of. */
  readonly parameter?: string;
}

const MESSAGE_CHARACTERS = 500;

/** Where errors hide in each other: answers of providers, and errors of the SDK that carry one. */
const INNER = ["error", "data", "response", "responseBody", "detail"];
const DEEPEST = 4;

/** What the body of an answer says. */
export function parseErrorBody(body: string): ErrorDetails {
  const value = parsed(body);
  if (value !== undefined) return errorDetails(value);
  // A page for a browser says nothing to people in a terminal.
  const isPage = /^\s*</.test(body);
  return { message: isPage ? "" : short(body), codes: [] };
}

/** What an error says that a stream or the SDK gave. */
export function errorDetails(error: unknown): ErrorDetails {
  const found: { message: string; codes: string[]; parameter?: string } = { message: "", codes: [] };
  search(error, found, 0);
  return found;
}

function search(
  value: unknown,
  found: { message: string; codes: string[]; parameter?: string },
  depth: number,
): void {
  if (typeof value === "string") {
    const inner = depth === 0 ? undefined : parsed(value);
    if (isRecord(inner)) search(inner, found, depth);
    else if (inner === undefined) found.message = short(value);
    return;
  }
  if (!isRecord(value) || depth > DEEPEST) return;
  // The innermost message is the endpoint's own; those around it are the SDK's.
  if (typeof value.message === "string" && value.message !== "") found.message = short(value.message);
  for (const code of [value.code, value.type]) if (typeof code === "string") found.codes.push(code);
  if (typeof value.param === "string") found.parameter = value.param;
  for (const key of INNER)
    if (value[key] !== undefined && value[key] !== null) search(value[key], found, depth + 1);
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  // Expected: text that only looks like JSON.
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function short(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length > MESSAGE_CHARACTERS ? `${line.slice(0, MESSAGE_CHARACTERS)} …` : line;
}
