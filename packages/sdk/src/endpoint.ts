import type { Transport } from "@flint/rpc";
import { FlintConnectionError, messageOf } from "./errors.ts";

/** The other end of a connection: the way to it, why it is gone, and how to be done with it. */
export interface Endpoint {
  readonly transport: Transport;
  /** Says why the connection ended; soon, even if that is not known. */
  explain(reason: Error | undefined): Promise<FlintConnectionError>;
  /** Resolves when nothing that was started for this connection is left. */
  stop(): Promise<void>;
}

/** An end that somebody else made and owns, such as a server in this process. */
export function borrowedEndpoint(transport: Transport): Endpoint {
  return {
    transport,
    explain: (reason) => {
      const why = reason === undefined ? "" : `: ${messageOf(reason)}`;
      const details = reason === undefined ? {} : { cause: reason };
      return Promise.resolve(
        new FlintConnectionError("closed", `The server closed the connection${why}.`, details),
      );
    },
    stop: () => Promise.resolve(),
  };
}
