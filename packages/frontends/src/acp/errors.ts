import { type ErrorKind, FlintError } from "@flint/protocol";
import type { RpcError } from "@flint/rpc";
import { ACP, ACP_CODES } from "./vocabulary.ts";

/** A failure that has a number of its own in ACP. */
export class AcpRefusal extends FlintError {
  readonly code: number;

  constructor(code: keyof typeof ACP_CODES, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super("invalidRequest", message, data);
    this.code = ACP_CODES[code];
  }
}

/** Names the session that is not there, and the way to one that is. */
export function sessionNotFound(sessionId: string): FlintError {
  const shown = JSON.stringify(sessionId.slice(0, 100));
  const message = `Resource not found: no session has the id ${shown}. session/list shows those there are; session/new begins one.`;
  return new FlintError("threadNotFound", message, { sessionId: sessionId.slice(0, 100) });
}

/** A failure in the words of ACP: the number of its kind, and the kind by name beside it. */
export function refusalOf(error: FlintError): RpcError {
  const code = error instanceof AcpRefusal ? error.code : ACP.errorCodes[error.kind];
  return { code, message: error.message, data: { ...error.data, reason: reasonOf(error) } };
}

function reasonOf(error: FlintError): ErrorKind | "requestCancelled" {
  return error instanceof AcpRefusal && error.code === ACP_CODES.requestCancelled
    ? "requestCancelled"
    : error.kind;
}
