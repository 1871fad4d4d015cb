import { toWellFormed } from "@flint/core/text";
import { isRecord } from "@flint/protocol";

const NUL = /\0/g;
const REPLACEMENT = "\ufffd";

/** Text without lone surrogates and NUL, which endpoints reject. */
export function cleanText(text: string): string {
  return toWellFormed(text).replace(NUL, REPLACEMENT);
}

/** A JSON value with all its strings clean, keys included. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (Array.isArray(value)) return value.map(cleanJson);
  return isRecord(value) ? cleanRecord(value) : value;
}

/** An object with all its strings clean, keys included. */
export function cleanRecord(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [cleanText(key), cleanJson(field)]));
}

/** Cleans streamed text: a surrogate pair that is split between two deltas stays whole. */
export class CleanStream {
  #half = "";

  push(piece: string): string {
    const text = this.#half + piece;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#half = isHalf ? text.slice(-1) : "";
    return cleanText(isHalf ? text.slice(0, -1) : text);
  }

  /** Returns what is left at the end of the stream. */
  end(): string {
    const left = this.#half;
    this.#half = "";
    return cleanText(left);
  }
}

/** Keys of well-known providers, and anything after an authorization scheme. */
const KNOWN_SECRETS = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{8,}/g,
  /\b(?:gsk|xai|hf|r8|nvapi|ghp|gho|ghs|glpat|xoxb|xoxp)[_-][A-Za-z0-9_-]{8,}/g,
  /\bAIza[A-Za-z0-9_-]{20,}/g,
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]+/g,
];

const MIN_SECRET = 4;

/** Removes the given secrets and everything that looks like a key from a text. */
export function redact(text: string, secrets: readonly string[]): string {
  const given = secrets.filter((secret) => secret.length >= MIN_SECRET);
  const withoutGiven = given.reduce((rest, secret) => rest.replaceAll(secret, "[key]"), text);
  return KNOWN_SECRETS.reduce((rest, pattern) => rest.replace(pattern, "[key]"), withoutGiven);
}

/** A URL without its credentials, query and fragment. */
export function displayUrl(address: string): string {
  if (!URL.canParse(address)) return address.split(/[?#]/)[0] ?? "";
  const { origin, pathname } = new URL(address);
  // An address without a scheme, such as localhost:8080, has no origin.
  if (origin === "null") return address.replace(/[?#].*$/s, "").replace(/^.*@/s, "");
  return `${origin}${pathname}`.replace(/\/$/, "");
}
