import type { McpServerConfig } from "@flint/core/ports";

const HIDDEN = "[hidden]";

// Shorter ones are no secrets, and hiding every "1" or "on" would make an error unreadable.
const SHORTEST_VALUE = 4;
const SHORTEST_WORD = 8;
const SHORTEST_PATH_SEGMENT = 16;

/** Takes what the user configured for a server, and nobody else may see, out of texts about that server. */
export class Redaction {
  readonly #secrets: readonly string[];

  constructor(config: McpServerConfig) {
    const secrets =
      config.type === "stdio" ? Object.values(config.env).flatMap(piecesOf) : httpSecrets(config);
    // The longest first: a part must not break up the whole.
    this.#secrets = [...new Set(secrets)].sort((one, other) => other.length - one.length);
  }

  /** The text with every secret replaced. */
  apply(text: string): string {
    return this.#secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
  }
}

/** A value, each of its lines, and its long words: "Bearer …" is often repeated without its first word. */
function piecesOf(value: string): string[] {
  const lines = [value, ...value.split(/\r?\n/)].map((line) => line.trim());
  const words = value.split(/\s+/).filter((word) => word.length >= SHORTEST_WORD);
  return [value, ...lines, ...words].filter((piece) => piece.length >= SHORTEST_VALUE);
}

/** An address can carry a key in its path or behind it. */
function httpSecrets({ url, headers }: Extract<McpServerConfig, { type: "http" }>): string[] {
  const values = Object.values(headers).flatMap(piecesOf);
  if (!URL.canParse(url)) return [...values, ...piecesOf(url)];
  const { username, password, pathname, search, searchParams } = new URL(url);
  const segments = pathname.split("/").filter((segment) => segment.length >= SHORTEST_PATH_SEGMENT);
  const parts = [username, password, search, ...searchParams.values()];
  return [...values, ...segments, ...parts.filter((part) => part.length >= SHORTEST_VALUE)];
}
