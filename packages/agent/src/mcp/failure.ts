import type { McpServerConfig } from "@flint/core/ports";
import { displayText } from "@flint/core/text";
import type { ElicitRequestURLParams } from "@modelcontextprotocol/client";
import { TransportClosed } from "./transport/server-transport.ts";

const MAX_MESSAGE = 2000;

/** A failure of a server, with a message for users that contains no secret. */
export class McpFailure extends Error {
  override readonly name = "McpFailure";
}

/** The error classes of the library, which is loaded late and therefore passed in. */
export type ErrorClasses = Pick<
  typeof import("@modelcontextprotocol/client"),
  "ProtocolError" | "SdkError" | "SdkErrorCode" | "SdkHttpError" | "UrlElicitationRequiredError"
>;

/** Describes whatever went wrong with a server. */
export class FailureDescriber {
  readonly #classes: ErrorClasses;
  readonly #redaction: Redaction;

  constructor(classes: ErrorClasses, redaction: Redaction) {
    this.#classes = classes;
    this.#redaction = redaction;
  }

  /** Describes a failure. One that is described already stays as it is. */
  describe(thrown: unknown): McpFailure {
    if (thrown instanceof McpFailure) return thrown;
    return new McpFailure(displayText(this.#redaction.apply(this.#describe(thrown)), MAX_MESSAGE), {
      cause: thrown,
    });
  }

  /** Reports whether it only reports the end of the connection. The transport knows the reason. */
  isConnectionEnd(thrown: unknown): boolean {
    const { SdkError, SdkErrorCode } = this.#classes;
    return (
      thrown instanceof TransportClosed ||
      (thrown instanceof SdkError && thrown.code === SdkErrorCode.ConnectionClosed)
    );
  }

  /** The URLs that the user has to open before the call is repeated. */
  requiredUrls({ cause }: McpFailure): readonly ElicitRequestURLParams[] {
    return cause instanceof this.#classes.UrlElicitationRequiredError ? cause.elicitations : [];
  }

  /** Reports whether the server itself sent the error, so that the connection still works. */
  isServerError(thrown: unknown): boolean {
    const { ProtocolError, SdkError, SdkErrorCode } = this.#classes;
    return (
      thrown instanceof ProtocolError ||
      (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult)
    );
  }

  #describe(thrown: unknown): string {
    if (thrown instanceof this.#classes.SdkHttpError) return httpMessage(thrown.status, thrown.message);
    if (!(thrown instanceof Error)) return String(thrown);
    const { cause } = thrown;
    if (thrown instanceof TypeError && cause instanceof Error) {
      const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
      return `It cannot be reached: ${code}.`;
    }
    return thrown.message;
  }
}

function httpMessage(status: number | undefined, message: string): string {
  if (status === 401 || status === 403) {
    return `It returned HTTP ${status}: access was denied. Check the headers in its configuration.`;
  }
  if (status === 404)
    return "It returned HTTP 404: there is no MCP server at this URL, or the session has expired.";
  return `It returned HTTP ${status ?? "error"}: ${message}`;
}

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
