import type { Transport } from "@flint/rpc";
import { type Endpoint, externalEndpoint } from "./client/app-server-client.ts";
import { type ClientConnectOptions, type FlintClient, openClient } from "./client/flint-client.ts";
import type { HomeLocation, SocketLocation, UrlLocation } from "./transport/server-location.ts";
import type { SpawnOptions } from "./transport/spawn.ts";

/**
 * The location of the server: a URL, socket or state folder of a running one, a transport, or a process to
 * start.
 */
export type ServerLocation =
  | (UrlLocation & Not<"spawn" | "transport" | "socket">)
  | (SocketLocation & Not<"spawn" | "transport" | "url" | "home">)
  | (HomeLocation & Not<"spawn" | "transport" | "url" | "socket">)
  | ({ readonly transport: Transport } & Not<"spawn" | "url" | "socket" | "home">)
  | ({ readonly spawn?: SpawnOptions | undefined } & Not<"transport" | "url" | "socket" | "home">);

type Not<Name extends string> = { readonly [Each in Name]?: undefined };

/** The location of the server, the client's info, and handlers for requests and events of the server. */
export type ConnectOptions = ServerLocation & ClientConnectOptions;

/**
 * Connects to a server and initializes the connection: to a running one by `url`, `socket` or `home`, over `transport`,
 * or, by default, to one it starts as `flint serve --stdio`.
 */
export function connect(options: ConnectOptions = {}): Promise<FlintClient> {
  return openClient(() => endpointOf(options), options);
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
