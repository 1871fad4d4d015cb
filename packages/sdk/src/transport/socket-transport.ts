import { connect } from "node:net";
import {
  MAX_RENDEZVOUS_LINE,
  parseRendezvousLine,
  RENDEZVOUS,
  type RendezvousRequest,
} from "@flint/protocol";
import { type Receiver, type Transport, WrappedTransport } from "@flint/rpc";
import { streamTransport } from "@flint/rpc/node";

const LF = 10;

/** Connects to a server on a unix socket, such as that of `flint serve --listen unix:PATH`. A failure closes the transport. */
export function socketTransport(path: string): Transport {
  const socket = connect({ path });
  return streamTransport(socket, socket);
}

/** Connects to the rendezvous socket of a running server. A refusal closes the transport with the server's reason. */
export function rendezvousTransport(path: string, request: RendezvousRequest): Transport {
  const socket = connect({ path });
  return new RendezvousTransport(streamTransport(socket, socket), request);
}

/** Sends the handshake first, and does not pass its answer to the receiver. */
class RendezvousTransport extends WrappedTransport {
  /** The answer as far as it has arrived; undefined once it is complete. */
  #early: Buffer | undefined = Buffer.alloc(0);
  #refusal: Error | undefined;

  constructor(inner: Transport, request: RendezvousRequest) {
    super(inner);
    inner.write(`${JSON.stringify(request)}\n`);
  }

  override start(receiver: Receiver): void {
    this.inner.start({
      chunk: (bytes) =>
        this.#early === undefined ? receiver.chunk(bytes) : this.#handshake(bytes, receiver),
      closed: (reason) => receiver.closed(this.#refusal ?? reason),
    });
  }

  /** Cut as bytes: what follows the answer may end within a character. */
  #handshake(chunk: Uint8Array | string, receiver: Receiver): void {
    const seen = Buffer.concat([this.#early ?? Buffer.alloc(0), Buffer.from(chunk)]);
    const end = seen.indexOf(LF);
    this.#early = seen;
    if (end === -1 && seen.length <= MAX_RENDEZVOUS_LINE) return;
    const answer = parseRendezvousLine(RENDEZVOUS.answer, seen.toString("utf8", 0, Math.max(end, 0)));
    if (answer?.ok !== true) {
      this.#refusal = new Error(answer?.reason ?? "it is not a Flint server");
      this.inner.close();
      return;
    }
    this.#early = undefined;
    if (end + 1 < seen.length) receiver.chunk(seen.subarray(end + 1));
  }
}
