import { asFlintError, FlintError } from "@flint/protocol";
import { HINT, KEY_FORMATS, KEYS, unfinishedKeyAt } from "./key-formats.ts";
import { unfinishedPrivateKeyAt, withoutPrivateKeys } from "./private-keys.ts";

/** Shorter secrets are too likely to be ordinary words. */
const SHORTEST_SECRET = 8;

/** This much of a secret at the end of a text is not a coincidence; less of it reveals nothing. */
const TELLING_PART = 4;

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

  /** Where a key or secret starts that may continue after the text; the length of the text if there is none. */
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
  const beginning = secret.slice(0, TELLING_PART);
  let at = text.indexOf(beginning, Math.max(0, text.length - secret.length + 1));
  while (at !== -1 && !secret.startsWith(text.slice(at))) at = text.indexOf(beginning, at + 1);
  return at === -1 ? text.length : at;
}
