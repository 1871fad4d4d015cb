import { ClientConnection } from "@flint/frontends";
import { flintFrontend } from "@flint/frontends/flint";
import { memoryPair } from "@flint/rpc";
import { type ClientConnectOptions, connect, type FlintClient } from "@flint/sdk";
import { composeEngine } from "./compose.ts";
import type { ServerOptions } from "./server-options.ts";

/** A server inside this process, and a client of it. */
export interface Embedded {
  readonly client: FlintClient;
  /** One more client of the same server, on the same live threads. */
  connect(options?: ClientConnectOptions): Promise<FlintClient>;
  /** Stops the turns and stores everything. */
  close(): Promise<void>;
}

/** Starts a server in this process. It speaks the same protocol as one in another process, only the pipe differs. */
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
