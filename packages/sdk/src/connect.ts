import type { ParamsInput } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import type { ClientOptions } from "./app-server-client.ts";
import { borrowedEndpoint } from "./endpoint.ts";
import { FlintClient } from "./flint-client.ts";
import type { SpawnOptions } from "./spawn.ts";

/** Where the server is: a process to start, or a transport to one that runs. */
export type ServerPlace =
  | { readonly spawn?: SpawnOptions | undefined; readonly transport?: undefined }
  | { readonly transport: Transport; readonly spawn?: undefined };

/** Where the server is, who connects, and what to do with what the server asks and tells. */
export type ConnectOptions = ServerPlace &
  ClientOptions & {
    readonly clientInfo?: ParamsInput<"initialize">["clientInfo"] | undefined;
    readonly capabilities?: ParamsInput<"initialize">["capabilities"] | undefined;
    /** Gives up connecting, and later closes the client. */
    readonly signal?: AbortSignal | undefined;
    /** How long the server may take to say hello. 30 s if absent. */
    readonly connectTimeoutMs?: number | undefined;
  };

/** Who the SDK says it is, unless the program that uses it says who that is. */
export const CLIENT_INFO = { name: "flint-sdk", version: "0.1.0" };

const CONNECT_TIMEOUT_MS = 30_000;

/** Connects to a server, by default by starting `flint serve --stdio`, and says hello. */
export async function connect(options: ConnectOptions = {}): Promise<FlintClient> {
  const { signal, clientInfo = CLIENT_INFO, capabilities, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const hello = { clientInfo, ...(capabilities === undefined ? {} : { capabilities }) };
  const callOptions = { signal, timeoutMs: connectTimeoutMs };
  // Who brings a transport does not wait for what starts processes.
  const endpoint =
    options.transport === undefined
      ? (await import("./spawn.ts")).spawnServer(options.spawn)
      : borrowedEndpoint(options.transport);
  const client = await FlintClient.open(endpoint, options, hello, callOptions);
  if (signal !== undefined) closeOnAbort(client, signal);
  return client;
}

function closeOnAbort(client: FlintClient, signal: AbortSignal): void {
  const close = (): void => void client.close();
  signal.addEventListener("abort", close, { once: true });
  void client.closed.then(() => signal.removeEventListener("abort", close));
  if (signal.aborted) close();
}
