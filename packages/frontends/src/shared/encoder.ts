import type { ThreadEvent } from "@flint/protocol";
import { encodeNotification } from "@flint/rpc";
import type { Ask } from "./client-asks.ts";

/** A notification to the client. */
export interface Notification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: object;
}

/** What was asked under this key needs no answer any more. */
export interface Resolved {
  readonly kind: "resolved";
  readonly key: string;
}

/** What an event becomes for the clients of a front end. */
export type Outgoing = Notification | Ask | Resolved;

/** An outgoing message; a notification with its line, which is the same for every client. */
export type Encoded<Message extends Outgoing> = Message extends Notification
  ? { readonly kind: "line"; readonly line: string; readonly notification: Message }
  : Message;

/** Writes a notification about something that happened at a time, as a line without its newline. */
type LineWriter = (notification: Notification, at: number) => string;

/** An event reaches all clients in a row; only a deferred one comes later. So a short memory is enough. */
const RECENT_EVENTS = 4;

/** Encodes each event once for all clients of a front end. */
export class Encoder<Message extends Outgoing = Outgoing> {
  readonly #line: LineWriter;
  readonly #recent: {
    readonly event: ThreadEvent;
    readonly encoded: Map<string, readonly Encoded<Message>[]>;
  }[] = [];

  /** `line` writes a notification; by default as JSON-RPC, with or without the header. */
  constructor(header: boolean, line: LineWriter = plainLine(header)) {
    this.#line = line;
  }

  /** What `translate` makes of an event, from memory if a client of the same variant was sent it before. */
  encode(
    event: ThreadEvent,
    translate: (event: ThreadEvent) => readonly Message[],
    variant = "",
  ): readonly Encoded<Message>[] {
    const variants = this.#variantsOf(event);
    const known = variants.get(variant);
    if (known !== undefined) return known;
    const encoded = translate(event).map((message) => this.encodeOne(message, event.at));
    variants.set(variant, encoded);
    return encoded;
  }

  /** One message for one client. */
  encodeOne(message: Message, at: number): Encoded<Message> {
    const encoded: unknown =
      message.kind === "notification"
        ? { kind: "line", line: this.#line(message, at), notification: message }
        : message;
    // The branch above is the definition of the type, which a conditional type cannot follow.
    return encoded as Encoded<Message>;
  }

  #variantsOf(event: ThreadEvent): Map<string, readonly Encoded<Message>[]> {
    const known = this.#recent.find((each) => each.event === event);
    if (known !== undefined) return known.encoded;
    const encoded = new Map<string, readonly Encoded<Message>[]>();
    this.#recent.unshift({ event, encoded });
    if (this.#recent.length > RECENT_EVENTS) this.#recent.pop();
    return encoded;
  }
}

function plainLine(header: boolean): LineWriter {
  return ({ method, params }) => encodeNotification(method, params, { header });
}
