import type { Socket } from "node:net";
import { streamTransport, WrappedTransport } from "@flint/rpc";
import type { GuestTransport } from "./cut.ts";

/** A client on a unix socket. */
export class SocketTransport extends WrappedTransport implements GuestTransport {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super(streamTransport(socket, socket));
    this.#socket = socket;
  }

  cut(): void {
    this.#socket.destroy();
  }
}
