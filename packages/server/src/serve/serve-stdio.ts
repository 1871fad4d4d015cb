import type { Engine } from "@flint/core";
import { ClientConnection, type Frontend } from "@flint/frontends";
import type { Transport } from "@flint/rpc";
import { stdioTransport } from "@flint/rpc/node";
import { type ServedClients, signalled, stopServer } from "./shutdown.ts";

/** Time for which a silent client on stdio keeps others waiting. */
const SHARE_MS = 200;
/**
 * Time for which they wait after it has a response: most clients open a thread next, which loading the
 * listeners would delay.
 */
const FIRST_REQUESTS_MS = 40;

/** Further clients of the engine that serves stdio. */
export interface FurtherClients extends ServedClients {
  /** Resolves when none of them is connected. */
  empty(): Promise<void>;
}

/** Options of `serveStdio`. */
export interface StdioOptions {
  /**
   * Lets other clients join. Called a moment after the first response, so that the client on stdio does not wait for it; or
   * after a longer one, so that the others do not wait for a silent client.
   */
  readonly share?: ((frontend: Frontend) => Promise<FurtherClients | undefined>) | undefined;
}

/**
 * Serves one client on standard input and output until its input ends or a signal arrives; if other clients joined, until
 * they have disconnected too. When this resolves, every request that was read has its response, and running turns are
 * stopped and recorded.
 */
export async function serveStdio(
  engine: Engine,
  frontend: Frontend,
  options: StdioOptions = {},
): Promise<void> {
  // Before the transport redirects what other code prints to stderr.
  redactErrors((text) => engine.redact(text));
  let sharing: Promise<FurtherClients | undefined> | undefined;
  let isStopping = false;
  const share = (): void => {
    clearTimeout(timer);
    // The first response may also be the last one.
    if (!isStopping) sharing ??= options.share?.(frontend);
  };
  const timer = setTimeout(share, SHARE_MS).unref();
  const shareSoon = () => setTimeout(share, FIRST_REQUESTS_MS).unref();
  const transport = afterFirstWrite(stdioTransport(), shareSoon);
  const connection = new ClientConnection(frontend, engine, transport);
  const disconnected = connection.closed.then(async () => (await sharing)?.empty());
  await Promise.race([disconnected, signalled()]);
  isStopping = true;
  const others = await sharing;
  await stopServer(engine, others === undefined ? [connection] : [connection, others]);
}

function afterFirstWrite(transport: Transport, then: () => void): Transport {
  const write = transport.write.bind(transport);
  transport.write = (text) => {
    transport.write = write;
    then();
    return write(text);
  };
  return transport;
}

/** Redacts everything that this process prints to stderr from now on, including what libraries print. */
export function redactErrors(redact: (text: string) => string): void {
  const { stderr } = process;
  const write = stderr.write.bind(stderr);
  function redacted(chunk: Uint8Array | string, ...rest: unknown[]): boolean {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    const shown = redact(text);
    // The overloads of `write` cannot be distinguished here; the other arguments are passed on.
    return Reflect.apply(write, stderr, [shown === text ? chunk : shown, ...rest]);
  }
  stderr.write = redacted;
}
