import type { McpServerConfig } from "@flint/core/ports";

const HIDDEN = "[hidden]";

// Shorter values are not secrets, and hiding every "1" or "on" would make an error unreadable.
const MIN_VALUE = 4;
const MIN_WORD = 8;
const MIN_PATH_SEGMENT = 16;

/** Removes the secrets of a server's configuration from texts about that server. */
export class Redaction {
  readonly #secrets: readonly string[];

  constructor(config: McpServerConfig) {
    const secrets =
      config.type === "stdio" ? Object.values(config.env).flatMap(partsOf) : httpSecrets(config);
    // The longest first: a part must not split the whole.
    this.#secrets = [...new Set(secrets)].sort((one, other) => other.length - one.length);
  }

  /** Replaces every secret in a text. */
  apply(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
  }
}

/** A value, each of its lines, and its long words: "Bearer …" is often repeated without its first word. */
function partsOf(value: string): string[] {
  const lines = [value, ...value.split(/\r?\n/)].map((line) => line.trim());
  const words = value.split(/\s+/).filter((word) => word.length >= MIN_WORD);
  return [value, ...lines, ...words].filter((part) => part.length >= MIN_VALUE);
}

/** A URL can have a key in its path or query. */
function httpSecrets({ url, headers }: Extract<McpServerConfig, { type: "http" }>): string[] {
  const values = Object.values(headers).flatMap(partsOf);
  if (!URL.canParse(url)) return [...values, ...partsOf(url)];
  const { username, password, pathname, search, searchParams } = new URL(url);
  const segments = pathname.split("/").filter((segment) => segment.length >= MIN_PATH_SEGMENT);
  const parts = [username, password, search, ...searchParams.values()];
  return [...values, ...segments, ...parts.filter((part) => part.length >= MIN_VALUE)];
}
