import { connect } from "node:net";
import { type Hello, MEETING, readMeetingLine } from "@flint/protocol";
import { type Receiver, streamTransport, type Transport } from "@flint/rpc";

/** The longest answer that is waited for. */
const LONGEST = 65_536;

/** The way to the server that is met at a socket, at a door of its. A refusal shows as a close that says why. */
export function meetingTransport(path: string, hello: Hello): Transport {
  const socket = connect({ path });
  return new MeetingTransport(streamTransport(socket, socket), hello);
}

/** Says hello before everything else, and keeps the answer to that from whoever listens. */
class MeetingTransport implements Transport {
  readonly #inner: Transport;
  readonly #decoder = new TextDecoder();
  #early: string | undefined = "";
  #refusal: Error | undefined;

  constructor(inner: Transport, hello: Hello) {
    this.#inner = inner;
    inner.write(`${JSON.stringify(hello)}\n`);
  }

  start(receiver: Receiver): void {
    this.#inner.start({
      chunk: (bytes) => (this.#early === undefined ? receiver.chunk(bytes) : this.#meet(bytes, receiver)),
      closed: (reason) => receiver.closed(this.#refusal ?? reason),
    });
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

  #meet(bytes: Uint8Array | string, receiver: Receiver): void {
    const piece = typeof bytes === "string" ? bytes : this.#decoder.decode(bytes, { stream: true });
    const seen = `${this.#early ?? ""}${piece}`;
    const end = seen.indexOf("\n");
    this.#early = seen;
    if (end === -1 && seen.length <= LONGEST) return;
    const answer = readMeetingLine(MEETING.answer, seen.slice(0, end));
    if (answer?.ok !== true) {
      this.#refusal = new Error(answer?.reason ?? "whoever listens there is no Flint server");
      this.#inner.close();
      return;
    }
    this.#early = undefined;
    if (end + 1 < seen.length) receiver.chunk(seen.slice(end + 1));
  }
}
