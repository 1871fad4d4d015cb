import type { Socket } from "node:net";
import { LIMITS } from "@flint/protocol";
import { LineReader, type Transport } from "@flint/rpc";
import { signalled } from "../shutdown.ts";

/** Who ended a bridge: the client by leaving, or the server. */
export type BridgeEnd = "client" | "server";

/** The near end of a bridge. */
export interface Ends {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Ends the bridge from this side. */
  readonly stop: Promise<void>;
}

/** Standard input and output, until a signal comes. */
export function standardEnds(): Ends {
  return { input: process.stdin, output: process.stdout, stop: signalled() };
}

/**
 * Carries bytes between this process and a server until both have said all. The end of input closes only that half:
 * what the server still has to say comes through.
 */
export function bridgeSocket(socket: Socket, { input, output, stop }: Ends): Promise<BridgeEnd> {
  return new Promise((resolve) => {
    let end: BridgeEnd = "server";
    const leave = (): void => {
      end = "client";
    };
    const leaveAtOnce = (): void => {
      leave();
      socket.destroy();
    };
    input.once("end", leave);
    // Nobody reads our output any more.
    output.once("error", leaveAtOnce);
    void stop.then(leaveAtOnce);
    socket.once("end", () => socket.end());
    socket.once("close", () => {
      input.unpipe(socket);
      resolve(end);
    });
    input.pipe(socket);
    socket.pipe(output, { end: false });
  });
}

/** The same for a transport that carries lines, such as a WebSocket; it has no halves, so the end of input ends it. */
export function bridgeLines(transport: Transport, { input, output, stop }: Ends): Promise<BridgeEnd> {
  return new Promise((resolve) => {
    let end: BridgeEnd = "server";
    const leave = (): void => {
      end = "client";
      transport.close();
    };
    const send = (line: string): void => {
      if (!transport.write(`${line}\n`)) input.pause();
    };
    // A line that cannot be sent is replaced by one that the server refuses in the same way.
    const reader = new LineReader({ limit: LIMITS.line, line: send, fault: () => send("\ufffd") });
    transport.onDrain(() => input.resume());
    output.on("drain", () => transport.resume());
    output.once("error", leave);
    void stop.then(leave);
    transport.start({
      chunk: (bytes) => {
        if (!output.write(bytes)) transport.pause();
      },
      closed: () => resolve(end),
    });
    input.on("data", (bytes: Buffer) => reader.push(bytes));
    input.once("end", () => {
      reader.end();
      leave();
    });
  });
}
