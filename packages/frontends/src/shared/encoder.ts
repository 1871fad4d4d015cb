import type { ThreadEvent } from "@flint/protocol";
import { encodeNotification } from "@flint/rpc";
import type { Ask } from "./client-asks.ts";

/** A notification to the client. */
export interface Notification {
  readonly kind: "notification";
  readonly method: string;
  readonly params: object;
}

/** The end of a request under this key, which needs no answer any more. */
export interface Resolved {
  readonly kind: "resolved";
  readonly key: string;
}

/** A message to the clients of a front end that an event is converted to. */
export type Outgoing = Notification | Ask | Resolved;

/** An outgoing message; a notification with its line, which is the same for every client. */
export type Encoded<Message extends Outgoing> = Message extends Notification
  ? { readonly kind: "line"; readonly line: string; readonly notification: Message }
  : Message;

/** Writes a notification about something that happened at a time, as a line without its newline. */
type LineWriter = (notification: Notification, at: number) => string;

/** An event reaches all clients in a row; only a deferred one comes later. So a short memory is enough. */
const RECENT_EVENTS = 4;

/** An event as it was encoded for the first variant of clients, and for the others, if there are any. */
interface Recent<Message extends Outgoing> {
  readonly event: ThreadEvent;
  readonly variant: string;
  readonly encoded: readonly Encoded<Message>[];
  others: Map<string, readonly Encoded<Message>[]> | undefined;
}

/** Encodes each event once for all clients of a front end. */
export class Encoder<Message extends Outgoing = Outgoing> {
  readonly #line: LineWriter;
  readonly #recent: Recent<Message>[] = [];
  /** Position of the next event in the memory, in place of the oldest one. */
  #next = 0;

  /** `line` writes a notification; by default as JSON-RPC, with or without the header. */
  constructor(header: boolean, line: LineWriter = plainLine(header)) {
    this.#line = line;
  }

  /**
   * Returns the result of `translate` for an event, from memory if a client of the same variant was sent it
   * before.
   */
  encode(
    event: ThreadEvent,
    translate: (event: ThreadEvent) => readonly Message[],
    variant = "",
  ): readonly Encoded<Message>[] {
    const recent = this.#find(event);
    const known = recent?.variant === variant ? recent.encoded : recent?.others?.get(variant);
    if (known !== undefined) return known;
    const encoded = translate(event).map((message) => this.encodeOne(message, event.at));
    if (recent === undefined) this.#remember({ event, variant, encoded, others: undefined });
    else {
      recent.others ??= new Map();
      recent.others.set(variant, encoded);
    }
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

  #find(event: ThreadEvent): Recent<Message> | undefined {
    for (const recent of this.#recent) if (recent.event === event) return recent;
    return undefined;
  }

  #remember(recent: Recent<Message>): void {
    this.#recent[this.#next] = recent;
    this.#next = (this.#next + 1) % RECENT_EVENTS;
  }
}

function plainLine(header: boolean): LineWriter {
  return ({ method, params }) => encodeNotification(method, params, { header });
}
