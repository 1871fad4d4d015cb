import type { RpcError } from "./codec.ts";

/** The other side answered a request with an error. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
  readonly method: string;
  readonly code: number;
  readonly data: unknown;

  constructor(method: string, error: RpcError) {
    super(error.message);
    this.method = method;
    this.code = error.code;
    this.data = error.data;
  }
}

/** The connection ended before the request was answered, or before it was made. */
export class PeerClosedError extends Error {
  override readonly name = "PeerClosedError";
  readonly method: string;

  constructor(method: string, reason: Error | undefined) {
    const why = reason === undefined ? "" : `: ${reason.message}`;
    super(`the connection closed before "${method}" was answered${why}`, { cause: reason });
    this.method = method;
  }
}

/** The other side did not answer in the time that the caller allowed. */
export class PeerTimeoutError extends Error {
  override readonly name = "PeerTimeoutError";
  readonly method: string;
  readonly timeoutMs: number;

  constructor(method: string, timeoutMs: number) {
    super(`"${method}" was not answered within ${timeoutMs} ms`);
    this.method = method;
    this.timeoutMs = timeoutMs;
  }
}
