import type { Clock } from "@flint/core/ports";
import { LIMITS } from "@flint/protocol";
import { decode, LineReader, type Receiver, WrappedTransport } from "@flint/rpc";
import type { Cut, GuestTransport } from "./cut.ts";

/** A first message is short; what is longer is looked at by the door alone. */
const LONGEST_GREETING = 64 * 1024;

/** What is watched for. */
export interface Watch {
  readonly clock: Clock;
  /** Whether any request will do as a greeting; else it is `initialize`. */
  readonly anyRequestGreets: boolean;
}

/**
 * A transport that ends by itself when the other side does not say `initialize` in time, or takes nothing of what
 * waits for it. Both bounds keep what a client that hangs can cost.
 */
export class WatchedTransport extends WrappedTransport<GuestTransport> {
  readonly #watch: Watch;
  #reader: LineReader | undefined;
  #stopGreeting: () => void;
  #stopStalled: (() => void) | undefined;

  constructor(inner: GuestTransport, watch: Watch) {
    super(inner);
    this.#watch = watch;
    this.#reader = new LineReader({
      limit: LONGEST_GREETING,
      line: (text) => this.#look(text),
      fault: () => undefined,
    });
    this.#stopGreeting = watch.clock.after(LIMITS.greetingMilliseconds, () => this.cut("silent"));
    inner.onDrain(() => this.#onDrain());
  }

  /** Whether the other side has said what a client says first. */
  get greeted(): boolean {
    return this.#reader === undefined;
  }

  override start(receiver: Receiver): void {
    this.inner.start({
      chunk: (bytes) => {
        this.#reader?.push(bytes);
        receiver.chunk(bytes);
      },
      closed: (reason) => {
        this.#stopGreeting();
        receiver.closed(reason);
      },
    });
  }

  override write(text: string): boolean {
    const goesOn = this.inner.write(text);
    if (!goesOn) this.#awaitDrain();
    return goesOn;
  }

  override close(): void {
    this.#stopGreeting();
    this.inner.close();
  }

  /** Ends it at once. */
  cut(why: Cut): void {
    this.#stopGreeting();
    this.#onDrain();
    this.inner.cut(why);
  }

  #look(text: string): void {
    const message = decode(text);
    if (message.kind !== "request") return;
    if (message.method !== "initialize" && !this.#watch.anyRequestGreets) return;
    this.#reader = undefined;
    this.#stopGreeting();
  }

  #awaitDrain(): void {
    this.#stopStalled ??= this.#watch.clock.after(LIMITS.stalledMilliseconds, () => this.cut("stalled"));
  }

  #onDrain(): void {
    this.#stopStalled?.();
    this.#stopStalled = undefined;
  }
}
