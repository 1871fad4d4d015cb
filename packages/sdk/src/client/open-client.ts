import type { ParamsInput } from "@flint/protocol";
import type { Endpoint } from "../transport/endpoint.ts";
import type { ClientOptions } from "./app-server-client.ts";
import { FlintClient } from "./flint-client.ts";

/** Who connects, and the handlers for what the server asks and sends. */
export type ClientConnectOptions = ClientOptions & {
  readonly clientInfo?: ParamsInput<"initialize">["clientInfo"] | undefined;
  readonly capabilities?: ParamsInput<"initialize">["capabilities"] | undefined;
  /** Aborts connecting, and closes the client later. */
  readonly signal?: AbortSignal | undefined;
  /** How long `initialize` may take; 30 s if absent. */
  readonly connectTimeoutMs?: number | undefined;
};

/** The default `clientInfo`. */
export const CLIENT_INFO = { name: "flint-sdk", version: "0.1.0" };

const CONNECT_TIMEOUT_MS = 30_000;

/** Initializes a connection to an endpoint, which is not made if the signal has aborted before. */
export async function openClient(
  makeEndpoint: () => Endpoint | Promise<Endpoint>,
  options: ClientConnectOptions,
): Promise<FlintClient> {
  const { signal, clientInfo = CLIENT_INFO, capabilities, connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  signal?.throwIfAborted();
  const initialize = { clientInfo, ...(capabilities === undefined ? {} : { capabilities }) };
  const callOptions = { signal, timeoutMs: connectTimeoutMs };
  const client = await FlintClient.open(await makeEndpoint(), options, initialize, callOptions);
  if (signal !== undefined) closeOnAbort(client, signal);
  return client;
}

function closeOnAbort(client: FlintClient, signal: AbortSignal): void {
  const close = (): void => void client.close();
  signal.addEventListener("abort", close, { once: true });
  void client.closed.then(() => signal.removeEventListener("abort", close));
  if (signal.aborted) close();
}
