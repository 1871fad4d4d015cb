import { displayText } from "@flint/core/text";
import type { ElicitRequestURLParams } from "@modelcontextprotocol/client";
import type { Redaction } from "./redaction.ts";
import { TransportClosed } from "./transport/server-transport.ts";

const MAX_MESSAGE = 2000;

/** A failure of a server, with a message for people that contains no secret. */
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

  /** Whether it only says that the connection ended. The transport knows the reason. */
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

  /** Whether the server itself sent the error, so that the connection still works. */
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
