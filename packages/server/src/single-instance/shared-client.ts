import type { RunningServer } from "@flint/protocol";
import {
  type ClientConnectOptions,
  connect,
  type FlintClient,
  FlintConnectionError,
  readRunningServer,
} from "@flint/sdk";
import { differenceTo, versionDifference } from "./difference.ts";

/** A client that would use the running server of a state folder. */
export interface SharedClientOptions extends ClientConnectOptions {
  /** The state folder. */
  readonly folder: string;
  /** The default folder of its threads. */
  readonly cwd: string;
  /**
   * True if the environment of the server matters, which it does not to a client that only reads and changes
   * stored threads.
   */
  readonly sameSettings: boolean;
}

/** A client of the running server; or why there is none, without a reason if no server is running. */
export type SharedClient =
  | { readonly client: FlintClient; readonly running: RunningServer }
  | { readonly client: undefined; readonly running?: RunningServer; readonly reason?: string };

/** Connects to the running server of a state folder, if one runs that this client can use. */
export async function connectShared(options: SharedClientOptions): Promise<SharedClient> {
  const { folder, cwd, sameSettings, ...client } = options;
  const running = readRunningServer(folder);
  if (running === undefined) return { client: undefined };
  const reason = sameSettings ? differenceTo(running) : versionDifference(running);
  if (reason !== undefined) return { client: undefined, running, reason };
  // Expected: the file of a server that died.
  try {
    return { client: await connect({ ...client, home: folder, cwd }), running };
  } catch (thrown) {
    if (!(thrown instanceof FlintConnectionError)) throw thrown;
    return { client: undefined };
  }
}
