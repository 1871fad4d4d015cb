import type { ParamsInput } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import type { ClientOptions } from "./client/app-server-client.ts";
import { FlintClient } from "./client/flint-client.ts";
import { type Endpoint, externalEndpoint } from "./transport/endpoint.ts";
import type { HomeLocation, SocketLocation, UrlLocation } from "./transport/server-location.ts";
import type { SpawnOptions } from "./transport/spawn.ts";

/** Where the server is: a URL, socket or state folder of a running one, a transport, or a process to start. */
export type ServerLocation =
  | (UrlLocation & Not<"spawn" | "transport" | "socket">)
  | (SocketLocation & Not<"spawn" | "transport" | "url" | "home">)
  | (HomeLocation & Not<"spawn" | "transport" | "url" | "socket">)
  | ({ readonly transport: Transport } & Not<"spawn" | "url" | "socket" | "home">)
  | ({ readonly spawn?: SpawnOptions | undefined } & Not<"transport" | "url" | "socket" | "home">);

type Not<Name extends string> = { readonly [Each in Name]?: undefined };

/** Who connects, and the handlers for what the server asks and sends. */
export type ClientConnectOptions = ClientOptions & {
  readonly clientInfo?: ParamsInput<"initialize">["clientInfo"] | undefined;
  readonly capabilities?: ParamsInput<"initialize">["capabilities"] | undefined;
  /** Aborts connecting, and closes the client later. */
  readonly signal?: AbortSignal | undefined;
  /** How long `initialize` may take; 30 s if absent. */
  readonly connectTimeoutMs?: number | undefined;
};

/** Where the server is, who connects, and the handlers for what the server asks and sends. */
export type ConnectOptions = ServerLocation & ClientConnectOptions;

/** The default `clientInfo`. */
export const CLIENT_INFO = { name: "flint-sdk", version: "0.1.0" };

const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Connects to a server and initializes the connection: to a running one by `url`, `socket` or `home`, over `transport`,
 * or, by default, to one it starts as `flint serve --stdio`.
 */
export async function connect(options: ConnectOptions = {}): Promise<FlintClient> {
  const { signal, clientInfo = CLIENT_INFO, capabilities, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const initialize = { clientInfo, ...(capabilities === undefined ? {} : { capabilities }) };
  const callOptions = { signal, timeoutMs: connectTimeoutMs };
  const client = await FlintClient.open(await endpointOf(options), options, initialize, callOptions);
  if (signal !== undefined) closeOnAbort(client, signal);
  return client;
}

/** Loads only what the given location needs. */
async function endpointOf(location: ServerLocation): Promise<Endpoint> {
  if (location.transport !== undefined) return externalEndpoint(location.transport);
  if (location.url !== undefined)
    return externalEndpoint((await import("./transport/server-location.ts")).urlTransport(location));
  if (location.home !== undefined)
    return externalEndpoint((await import("./transport/server-location.ts")).homeTransport(location));
  if (location.socket === undefined)
    return (await import("./transport/spawn.ts")).spawnServer(location.spawn);
  return externalEndpoint((await import("./transport/socket-transport.ts")).socketTransport(location.socket));
}

function closeOnAbort(client: FlintClient, signal: AbortSignal): void {
  const close = (): void => void client.close();
  signal.addEventListener("abort", close, { once: true });
  void client.closed.then(() => signal.removeEventListener("abort", close));
  if (signal.aborted) close();
}
