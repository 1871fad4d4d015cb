import { asFlintError, FlintError } from "@flint/protocol";
import {
  HINT,
  KEY_CHARACTERS,
  KEY_FORMATS,
  KEYS,
  LONGEST_KEY,
  LONGEST_PRIVATE_KEY,
  PRIVATE_KEY_CHARACTERS,
  unfinishedKeyAt,
  unfinishedPrivateKeyAt,
  withoutPrivateKeys,
} from "./keys.ts";

/** Shorter secrets are too likely to be ordinary words. */
const SHORTEST_SECRET = 8;

/** This much of a secret at the end of a text is not a coincidence; less of it reveals nothing. */
const REVEALING_LENGTH = 4;

/** Fields that identify items, agents and folders, which must stay as they are. */
const NAMES = /^(?:type|id|[a-z]+Ids?|cwd|model|agent|kind|status)$/;

/** Replaces every key of a known format, and each of these secrets, by `[redacted:kind]`. */
export function redact(text: string, secrets: readonly string[]): string {
  return new Redactor(secrets).text(text);
}

/** Replaces secrets in text that goes to logs, terminals and clients. */
export class Redactor {
  /** Longest first, because one may be a prefix of another. */
  #secrets: readonly string[] = [];

  constructor(secrets: readonly string[]) {
    this.learn(secrets);
  }

  /** Adds secrets to redact from now on. */
  learn(secrets: readonly string[]): void {
    const known = new Set([...this.#secrets, ...secrets.filter(({ length }) => length >= SHORTEST_SECRET)]);
    this.#secrets = [...known].toSorted((left, right) => right.length - left.length);
  }

  /** The text without secrets. */
  text(text: string): string {
    let shown = text;
    for (const secret of this.#secrets) {
      if (shown.includes(secret)) shown = shown.replaceAll(secret, "[redacted:secret]");
    }
    if (!HINT.test(shown)) return shown;
    return withoutPrivateKeys(shown).replace(KEYS, replacement);
  }

  /**
   * Returns the start of a key or secret that may continue after the text; the length of the text if there is
   * none.
   */
  unfinishedAt(text: string): number {
    let earliest = Math.min(unfinishedKeyAt(text), unfinishedPrivateKeyAt(text));
    for (const secret of this.#secrets) earliest = Math.min(earliest, partAtEnd(text, secret));
    return earliest;
  }

  /** Redacts all strings of a JSON value. Returns the same object if nothing changed. */
  value<Value>(value: Value): Value {
    // The shape stays as it is; only the content of strings may change.
    return this.#redacted(value) as Value;
  }

  /** A FlintError without secrets in its message and data. */
  error(thrown: unknown): FlintError {
    const error = asFlintError(thrown);
    const message = this.text(error.message);
    const data = this.value(error.data);
    if (message === error.message && data === error.data) return error;
    return new FlintError(error.kind, message, data, { cause: thrown });
  }

  #redacted(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#redacted(item));
      return items.some((item, at) => item !== value[at]) ? items : value;
    }
    let changed: Record<string, unknown> | undefined;
    for (const [key, field] of Object.entries(value)) {
      const shown = NAMES.test(key) ? field : this.#redacted(field);
      if (Object.is(shown, field)) continue;
      changed ??= { ...value };
      changed[key] = shown;
    }
    return changed ?? value;
  }
}

/** The text in place of a key: its kind, after the word that marks an authorization header. */
function replacement(...found: unknown[]): string {
  const at = KEY_FORMATS.findIndex((_, index) => found[index + 1] !== undefined);
  const kind = KEY_FORMATS[at]?.kind ?? "key";
  const [, scheme = ""] = /^(bearer )/i.exec(String(found[0])) ?? [];
  return `${scheme}[redacted:${kind}]`;
}

function partAtEnd(text: string, secret: string): number {
  const beginning = secret.slice(0, REVEALING_LENGTH);
  let at = text.indexOf(beginning, Math.max(0, text.length - secret.length + 1));
  while (at !== -1 && !secret.startsWith(text.slice(at))) at = text.indexOf(beginning, at + 1);
  return at === -1 ? text.length : at;
}

/** Length of already shown text that is checked again; longer than any key prefix and what may precede it. */
const CONTEXT = 24;

/**
 * Redacts text that comes in pieces. The prefix that all keys of a kind share is shown as it comes; from there on
 * nothing is shown until the key has ended, so that no part of it gets through.
 */
export class RedactedStream {
  readonly #redactor: Redactor;
  /** The end of the text already shown. */
  #before = "";
  #held = "";
  /** Matches the rest of a key that was too long to wait for; it is dropped. */
  #dropping: RegExp | undefined;

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** Adds a piece and returns the text that can be shown now. */
  push(piece: string): string {
    let text = this.#held + piece;
    if (this.#dropping !== undefined) {
      text = text.replace(this.#dropping, "");
      if (text === "") return "";
      this.#dropping = undefined;
    }
    const context = this.#before + text;
    const start = this.#redactor.unfinishedAt(context);
    if (start === context.length) return this.#show(text, "", context);
    const at = Math.max(0, start - this.#before.length);
    const isPrivateKey = context.startsWith("-----BEGIN", start);
    if (text.length - at > (isPrivateKey ? LONGEST_PRIVATE_KEY : LONGEST_KEY)) {
      this.#dropping = isPrivateKey ? PRIVATE_KEY_CHARACTERS : KEY_CHARACTERS;
      return this.#show(text, "");
    }
    return this.#show(text.slice(0, at), text.slice(at));
  }

  /** Returns the text that was held back, at the end of the stream. */
  end(): string {
    return this.#show(this.#held, "");
  }

  #show(text: string, held: string, context = this.#before + text): string {
    this.#held = held;
    if (text === "") return "";
    const shown = this.#redactor.text(context);
    const known = shown.startsWith(this.#before) ? this.#before.length : sameLength(shown, this.#before);
    // The cut may be inside a word, where no key starts; the underscore keeps it one.
    this.#before = shown.length <= CONTEXT ? shown : `_${shown.slice(-CONTEXT)}`;
    return shown.slice(known);
  }
}

/** The length of the common prefix. */
function sameLength(left: string, right: string): number {
  let at = 0;
  while (at < right.length && left[at] === right[at]) at += 1;
  return at;
}
