import { FlintRequestError } from "@flint/sdk";

/** The codes of this wire. */
export type AgmCode = "NOT_FOUND" | "INVALID_PARAMS" | "INVALID_METHOD" | "INTERNAL";

/** Why a request is not carried out, for whoever sent it. */
export class AgmError extends Error {
  override readonly name = "AgmError";
  readonly code: AgmCode;

  constructor(code: AgmCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Kinds of errors of the server that the request itself is the cause of. */
const OF_THE_REQUEST: ReadonlySet<string> = new Set(["invalidParams", "invalidRequest", "unsupported"]);

/** The error of this wire for whatever was thrown. */
export function agmErrorOf(thrown: unknown): AgmError {
  if (thrown instanceof AgmError) return thrown;
  const isOfRequest = thrown instanceof FlintRequestError && OF_THE_REQUEST.has(thrown.kind);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new AgmError(isOfRequest ? "INVALID_PARAMS" : "INTERNAL", message);
}
