import type { Transport } from "@flint/rpc";
import { FlintConnectionError, messageOf } from "../errors.ts";

/** The server's end of a connection: its transport, why it closed, and how to stop it. */
export interface Endpoint {
  readonly transport: Transport;
  /** Explains why the connection ended, soon even if that is unknown. */
  explain(reason: Error | undefined): Promise<FlintConnectionError>;
  /** Resolves when everything started for this connection has ended. */
  stop(): Promise<void>;
}

/** An endpoint that the caller owns, such as a server in this process. */
export function externalEndpoint(transport: Transport): Endpoint {
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
