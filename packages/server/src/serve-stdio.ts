import type { Engine } from "@flint/core";
import { ClientConnection, type Frontend } from "@flint/frontends";
import { stdioTransport, type Transport } from "@flint/rpc";
import { redactErrors } from "./redact-errors.ts";
import { type Clients, endServer, signalled } from "./shutdown.ts";

/** How long others wait for the first answer to the client on stdio before they are let in without it. */
const COMPANY_MS = 200;

/** Further clients of the engine that serves stdio. */
export interface Company extends Clients {
  /** Resolves when none of them is left. */
  empty(): Promise<void>;
}

/** What may be added to serving stdio. */
export interface StdioOptions {
  /**
   * Lets others in. Called when the first answer is out, so that the client on stdio does not wait for it; or after a
   * moment, so that others do not wait for a client that says nothing.
   */
  readonly company?: ((frontend: Frontend) => Promise<Company | undefined>) | undefined;
}

/**
 * Serves one client over standard input and output until its input ends or a signal comes; if others came as well,
 * until they have left too. Every request that was read has its answer before this resolves, and running turns are
 * stopped and recorded.
 */
export async function serveStdio(
  engine: Engine,
  frontend: Frontend,
  options: StdioOptions = {},
): Promise<void> {
  // Before the transport sends there whatever others print.
  redactErrors((text) => engine.redact(text));
  let company: Promise<Company | undefined> | undefined;
  let isEnding = false;
  const begin = (): void => {
    clearTimeout(moment);
    // A first answer may also be the last one.
    if (!isEnding) company ??= options.company?.(frontend);
  };
  const moment = setTimeout(begin, COMPANY_MS).unref();
  const transport = afterFirstWrite(stdioTransport(), begin);
  const connection = new ClientConnection(frontend, engine, transport);
  const left = connection.closed.then(async () => (await company)?.empty());
  await Promise.race([left, signalled()]);
  isEnding = true;
  const others = await company;
  await endServer(engine, others === undefined ? [connection] : [connection, others]);
}

function afterFirstWrite(transport: Transport, then: () => void): Transport {
  const write = transport.write.bind(transport);
  transport.write = (text) => {
    transport.write = write;
    setImmediate(then);
    return write(text);
  };
  return transport;
}
