import { isRecord } from "@flint/protocol";

/** What an endpoint says about an error, in whatever format. */
export interface ErrorDetails {
  readonly message: string;
  /** Every `code` and `type` in it. */
  readonly codes: readonly string[];
  /** The parameter that it rejects. */
  readonly parameter?: string;
}

const MAX_MESSAGE = 500;

/** The fields in which error bodies of providers and errors of the SDK contain another error. */
const INNER = ["error", "data", "response", "responseBody", "detail"];
const MAX_DEPTH = 4;

/** Reads an error from the body of a response. */
export function parseErrorBody(body: string): ErrorDetails {
  const value = parsed(body);
  if (value !== undefined) return errorDetails(value);
  // An HTML page is of no use in a terminal.
  const isPage = /^\s*</.test(body);
  return { message: isPage ? "" : short(body), codes: [] };
}

/** Reads an error that a stream or the SDK reported. */
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
  if (!isRecord(value) || depth > MAX_DEPTH) return;
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
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)} …` : line;
}
