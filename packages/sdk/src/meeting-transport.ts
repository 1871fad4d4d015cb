import { connect } from "node:net";
import {
  MAX_RENDEZVOUS_LINE,
  parseRendezvousLine,
  RENDEZVOUS,
  type RendezvousRequest,
} from "@flint/protocol";
import { type Receiver, streamTransport, type Transport, WrappedTransport } from "@flint/rpc";

const LF = 10;

/** The way to the server that is met at a socket, at a door of its. A refusal shows as a close that says why. */
export function meetingTransport(path: string, hello: RendezvousRequest): Transport {
  const socket = connect({ path });
  return new MeetingTransport(streamTransport(socket, socket), hello);
}

/** Says hello before everything else, and keeps the answer to that from whoever listens. */
class MeetingTransport extends WrappedTransport {
  /** What has come of the answer so far; undefined once it is all there. */
  #early: Buffer | undefined = Buffer.alloc(0);
  #refusal: Error | undefined;

  constructor(inner: Transport, hello: RendezvousRequest) {
    super(inner);
    inner.write(`${JSON.stringify(hello)}\n`);
  }

  override start(receiver: Receiver): void {
    this.inner.start({
      chunk: (bytes) => (this.#early === undefined ? receiver.chunk(bytes) : this.#meet(bytes, receiver)),
      closed: (reason) => receiver.closed(this.#refusal ?? reason),
    });
  }

  /** Cut as bytes: what follows the answer may end within a character. */
  #meet(chunk: Uint8Array | string, receiver: Receiver): void {
    const seen = Buffer.concat([this.#early ?? Buffer.alloc(0), Buffer.from(chunk)]);
    const end = seen.indexOf(LF);
    this.#early = seen;
    if (end === -1 && seen.length <= MAX_RENDEZVOUS_LINE) return;
    const answer = parseRendezvousLine(RENDEZVOUS.answer, seen.toString("utf8", 0, Math.max(end, 0)));
    if (answer?.ok !== true) {
      this.#refusal = new Error(answer?.reason ?? "whoever listens there is no Flint server");
      this.inner.close();
      return;
    }
    this.#early = undefined;
    if (end + 1 < seen.length) receiver.chunk(seen.subarray(end + 1));
  }
}
