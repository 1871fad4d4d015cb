import { type ErrorKind, FlintError } from "@flint/protocol";
import type { RpcError } from "@flint/rpc";
import { ACP, ACP_CODES } from "./vocabulary.ts";

/** An error with a code that only ACP has. */
export class AcpError extends FlintError {
  readonly code: number;

  constructor(code: keyof typeof ACP_CODES, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super("invalidRequest", message, data);
    this.code = ACP_CODES[code];
  }
}

/** The error for an unknown session, which says where to find known ones. */
export function sessionNotFound(sessionId: string): FlintError {
  const shortened = sessionId.slice(0, 100);
  const message = `Resource not found: no session has the id ${JSON.stringify(shortened)}. List sessions with session/list, or start one with session/new.`;
  return new FlintError("threadNotFound", message, { sessionId: shortened });
}

/** An error as clients receive it: the code of its kind, and the kind by name. */
export function rpcErrorOf(error: FlintError): RpcError {
  const code = error instanceof AcpError ? error.code : ACP.errorCodes[error.kind];
  return { code, message: error.message, data: { ...error.data, reason: reasonOf(error) } };
}

function reasonOf(error: FlintError): ErrorKind | "requestCancelled" {
  return error instanceof AcpError && error.code === ACP_CODES.requestCancelled
    ? "requestCancelled"
    : error.kind;
}
