import type { Socket } from "node:net";

/** Maximum amount of data that a client may send before it knows whether its connection is allowed. */
const MOST_EARLY_BYTES = 65_536;

/** Data that a client sent while its connection was decided about. */
export interface EarlyData {
  /** True if the client still waits. */
  readonly isOpen: boolean;
  /** Passes everything on, and stops listening. */
  deliver(upstream: Socket): void;
}

/**
 * Reads from a client that waits for a decision, up to a bound: a client that went away is only noticed by reading.
 */
export function receiveEarly(client: Socket, head: Buffer): EarlyData {
  const chunks: Buffer[] = [head];
  let bytes = head.length;
  let isOpen = true;
  const onData = (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_EARLY_BYTES) client.pause();
  };
  const onEnd = () => {
    isOpen = false;
    client.destroy();
  };
  client.on("data", onData).once("end", onEnd).once("close", onEnd);
  client.resume();
  return {
    get isOpen() {
      return isOpen;
    },
    deliver(upstream) {
      client.pause();
      client.off("data", onData).off("end", onEnd).off("close", onEnd);
      for (const chunk of chunks) if (chunk.length > 0) upstream.write(chunk);
    },
  };
}

/** Joins two connections until both directions have ended, one breaks, or nothing was sent for too long. */
export function splice(client: Socket, upstream: Socket, idleMs: number): void {
  const cut = () => {
    client.destroy();
    upstream.destroy();
  };
  for (const side of [client, upstream]) side.setTimeout(idleMs, cut).once("error", cut);
  client.once("close", cut);
  // Its last output may still be on its way to the client.
  upstream.once("close", () => (upstream.readableEnded ? client.end(cut) : cut()));
  client.pipe(upstream);
  upstream.pipe(client);
}
