import type { Socket } from "node:net";
import { LIMITS } from "@flint/protocol";
import { LineReader, type Transport } from "@flint/rpc";
import { signalled } from "../serve/shutdown.ts";

/** The side that closed a bridge. */
export type BridgeEnd = "client" | "server";

/** The client's end of a bridge. */
export interface LocalEndpoint {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Closes the bridge from this side. */
  readonly stop: Promise<void>;
}

/** Standard input and output, until a signal arrives. */
export function stdioEnd(): LocalEndpoint {
  return { input: process.stdin, output: process.stdout, stop: signalled() };
}

/**
 * Copies bytes between this process and a server until both sides have closed. The end of input closes only that half, so
 * that the server's last responses still arrive.
 */
export function bridgeSocket(socket: Socket, { input, output, stop }: LocalEndpoint): Promise<BridgeEnd> {
  return new Promise((resolve) => {
    let end: BridgeEnd = "server";
    const onInputEnd = (): void => {
      end = "client";
    };
    const disconnect = (): void => {
      end = "client";
      socket.destroy();
    };
    input.once("end", onInputEnd);
    // The output pipe was closed.
    output.once("error", disconnect);
    void stop.then(disconnect);
    socket.once("end", () => socket.end());
    socket.once("close", () => {
      input.unpipe(socket);
      resolve(end);
    });
    input.pipe(socket);
    socket.pipe(output, { end: false });
  });
}

/** The same for a transport of lines, such as a WebSocket; it cannot be half-closed, so the end of input closes it. */
export function bridgeLines(
  transport: Transport,
  { input, output, stop }: LocalEndpoint,
): Promise<BridgeEnd> {
  return new Promise((resolve) => {
    let end: BridgeEnd = "server";
    const disconnect = (): void => {
      end = "client";
      transport.close();
    };
    const send = (line: string): void => {
      if (!transport.write(`${line}\n`)) input.pause();
    };
    // A line that is too long is replaced by one that the server rejects in the same way.
    const reader = new LineReader({ limit: LIMITS.line, line: send, fault: () => send("\ufffd") });
    transport.onDrain(() => input.resume());
    output.on("drain", () => transport.resume());
    output.once("error", disconnect);
    void stop.then(disconnect);
    transport.start({
      chunk: (bytes) => {
        if (!output.write(bytes)) transport.pause();
      },
      closed: () => resolve(end),
    });
    input.on("data", (bytes: Buffer) => reader.push(bytes));
    input.once("end", () => {
      reader.end();
      disconnect();
    });
  });
}
