import type { Socket } from "node:net";
import { type Receiver, streamTransport, type Transport } from "@flint/rpc";
import type { GuestTransport } from "./cut.ts";

/** A client on a unix socket. */
export class SocketTransport implements GuestTransport {
  readonly #socket: Socket;
  readonly #inner: Transport;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#inner = streamTransport(socket, socket);
  }

  start(receiver: Receiver): void {
    this.#inner.start(receiver);
  }

  write(text: string): boolean {
    return this.#inner.write(text);
  }

  onDrain(listener: () => void): void {
    this.#inner.onDrain(listener);
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  close(): void {
    this.#inner.close();
  }

  cut(): void {
    this.#socket.destroy();
  }
}
