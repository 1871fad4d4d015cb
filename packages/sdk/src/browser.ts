// The SDK for browsers: no module that this imports uses Node.
import type { Transport } from "@flint/rpc";
import { externalEndpoint } from "./client/app-server-client.ts";
import { type ClientConnectOptions, type FlintClient, openClient } from "./client/flint-client.ts";

/** The transport to the server, the client's info, and handlers for requests and events of the server. */
export type ConnectOptions = ClientConnectOptions & { readonly transport: Transport };

/** Connects to a server over a transport, such as `webSocketTransport(new WebSocket(url))`, and initializes it. */
export function connect(options: ConnectOptions): Promise<FlintClient> {
  return openClient(() => externalEndpoint(options.transport), options);
}

export * from "./anywhere.ts";
