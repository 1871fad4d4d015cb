import { ClientConnection } from "@flint/frontends";
import { flintFrontend } from "@flint/frontends/flint";
import { memoryPair } from "@flint/rpc";
import { type ClientConnectOptions, connect, type FlintClient } from "@flint/sdk";
import { composeEngine } from "./compose.ts";
import type { ServerOptions } from "./server-options.ts";

/** A server in this process, with a client of it. */
export interface Embedded {
  readonly client: FlintClient;
  /** Connects another client to the same server. */
  connect(options?: ClientConnectOptions): Promise<FlintClient>;
  /** Stops running turns, stores everything and closes the connections. */
  close(): Promise<void>;
}

/** Starts a server in this process. Clients use the same protocol as for a server in another process. */
export async function embed(
  server: ServerOptions = {},
  client: ClientConnectOptions = {},
): Promise<Embedded> {
  const engine = composeEngine(server);
  const frontend = flintFrontend();
  const connectClient = (options: ClientConnectOptions = {}) => {
    const [ours, theirs] = memoryPair();
    new ClientConnection(frontend, engine, ours);
    return connect({ ...options, transport: theirs });
  };
  const first = await connectClient(client);
  return {
    client: first,
    connect: connectClient,
    async close() {
      await engine.close();
      await first.close();
    },
  };
}
