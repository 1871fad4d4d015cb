import type { ParamsInput } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import type { ClientOptions } from "./app-server-client.ts";
import { borrowedEndpoint, type Endpoint } from "./endpoint.ts";
import { FlintClient } from "./flint-client.ts";
import type { HomePlace, SocketPlace, UrlPlace } from "./place.ts";
import type { SpawnOptions } from "./spawn.ts";

/** Where the server is: one that runs, by its URL, its socket or its state folder; a transport to one; or a process to start. */
export type ServerPlace =
  | (UrlPlace & Not<"spawn" | "transport" | "socket">)
  | (SocketPlace & Not<"spawn" | "transport" | "url" | "home">)
  | (HomePlace & Not<"spawn" | "transport" | "url" | "socket">)
  | ({ readonly transport: Transport } & Not<"spawn" | "url" | "socket" | "home">)
  | ({ readonly spawn?: SpawnOptions | undefined } & Not<"transport" | "url" | "socket" | "home">);

type Not<Name extends string> = { readonly [Each in Name]?: undefined };

/** Who connects, and what to do with what the server asks and tells. */
export type GuestOptions = ClientOptions & {
  readonly clientInfo?: ParamsInput<"initialize">["clientInfo"] | undefined;
  readonly capabilities?: ParamsInput<"initialize">["capabilities"] | undefined;
  /** Gives up connecting, and later closes the client. */
  readonly signal?: AbortSignal | undefined;
  /** How long the server may take to say hello. 30 s if absent. */
  readonly connectTimeoutMs?: number | undefined;
};

/** Where the server is, who connects, and what to do with what the server asks and tells. */
export type ConnectOptions = ServerPlace & GuestOptions;

/** Who the SDK says it is, unless the program that uses it says who that is. */
export const CLIENT_INFO = { name: "flint-sdk", version: "0.1.0" };

const CONNECT_TIMEOUT_MS = 30_000;

/**
 * Connects to a server and says hello: to one that runs, by `url`, `socket` or `home`; to the other end of `transport`;
 * by default, to one that it starts as `flint serve --stdio`.
 */
export async function connect(options: ConnectOptions = {}): Promise<FlintClient> {
  const { signal, clientInfo = CLIENT_INFO, capabilities, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const hello = { clientInfo, ...(capabilities === undefined ? {} : { capabilities }) };
  const callOptions = { signal, timeoutMs: connectTimeoutMs };
  const client = await FlintClient.open(await endpointOf(options), options, hello, callOptions);
  if (signal !== undefined) closeOnAbort(client, signal);
  return client;
}

/** Who brings a transport does not wait for what finds servers, or starts them. */
async function endpointOf(place: ServerPlace): Promise<Endpoint> {
  if (place.transport !== undefined) return borrowedEndpoint(place.transport);
  if (place.url !== undefined) return borrowedEndpoint((await import("./place.ts")).urlTransport(place));
  if (place.home !== undefined) return borrowedEndpoint((await import("./place.ts")).homeTransport(place));
  if (place.socket === undefined) return (await import("./spawn.ts")).spawnServer(place.spawn);
  return borrowedEndpoint((await import("./socket-transport.ts")).socketTransport(place.socket));
}

function closeOnAbort(client: FlintClient, signal: AbortSignal): void {
  const close = (): void => void client.close();
  signal.addEventListener("abort", close, { once: true });
  void client.closed.then(() => signal.removeEventListener("abort", close));
  if (signal.aborted) close();
}
