import { displayText } from "@flint/core/text";
import type { ElicitRequestURLParams } from "@modelcontextprotocol/client";
import type { Redaction } from "./redaction.ts";
import { TransportClosed } from "./transport/server-transport.ts";

const LONGEST_TEXT = 2000;

/** Something that a server could not do, in words for people that hold no secret. */
export class McpFailure extends Error {
  override readonly name = "McpFailure";
}

/** The parts of the library by which failures are told apart. It is loaded late, so it is handed in. */
export type ErrorClasses = Pick<
  typeof import("@modelcontextprotocol/client"),
  "ProtocolError" | "SdkError" | "SdkErrorCode" | "SdkHttpError" | "UrlElicitationRequiredError"
>;

/** Puts whatever went wrong with a server into words. */
export class FailureDescriber {
  readonly #classes: ErrorClasses;
  readonly #redaction: Redaction;

  constructor(classes: ErrorClasses, redaction: Redaction) {
    this.#classes = classes;
    this.#redaction = redaction;
  }

  /** The words for it. What is in words already stays as it is. */
  describe(thrown: unknown): McpFailure {
    if (thrown instanceof McpFailure) return thrown;
    return new McpFailure(displayText(this.#redaction.apply(this.#describe(thrown)), LONGEST_TEXT), {
      cause: thrown,
    });
  }

  /** Whether it says no more than that the connection ended. How it ended is known to the transport. */
  isConnectionEnd(thrown: unknown): boolean {
    const { SdkError, SdkErrorCode } = this.#classes;
    return (
      thrown instanceof TransportClosed ||
      (thrown instanceof SdkError && thrown.code === SdkErrorCode.ConnectionClosed)
    );
  }

  /** The addresses that the user has to open before the server does what was asked. */
  requiredUrls({ cause }: McpFailure): readonly ElicitRequestURLParams[] {
    return cause instanceof this.#classes.UrlElicitationRequiredError ? cause.elicitations : [];
  }

  /** Whether the server itself answered, so that the connection is as good as before. */
  isServerError(thrown: unknown): boolean {
    const { ProtocolError, SdkError, SdkErrorCode } = this.#classes;
    return (
      thrown instanceof ProtocolError ||
      (thrown instanceof SdkError && thrown.code === SdkErrorCode.InvalidResult)
    );
  }

  #describe(thrown: unknown): string {
    if (thrown instanceof this.#classes.SdkHttpError) return httpWords(thrown.status, thrown.message);
    if (!(thrown instanceof Error)) return String(thrown);
    const { cause } = thrown;
    if (thrown instanceof TypeError && cause instanceof Error) {
      const code = "code" in cause && typeof cause.code === "string" ? cause.code : cause.message;
      return `It cannot be reached: ${code}.`;
    }
    return thrown.message;
  }
}

function httpWords(status: number | undefined, message: string): string {
  if (status === 401 || status === 403) {
    return `It answered with HTTP ${status}: it does not let us in. Check the headers in its configuration.`;
  }
  if (status === 404)
    return "It answered with HTTP 404: there is no MCP server at this address, or it forgot the session.";
  return `It answered with HTTP ${status ?? "error"}: ${message}`;
}
