import type { Engine } from "@flint/core";
import type { ThreadEvent } from "@flint/protocol";
import { encodeNotification, type Trace, type Transport } from "@flint/rpc";
import { Connection } from "./connection.ts";
import type { Dialect, Outbound } from "./dialect.ts";
import type { Encoded } from "./encoded.ts";

/** A dialect in service: connects clients to an engine, and encodes each event once for all of them. */
export class Door {
  readonly dialect: Dialect;
  #event: ThreadEvent | undefined;
  #encoded: readonly Encoded[] = [];

  constructor(dialect: Dialect) {
    this.dialect = dialect;
  }

  /** Serves one client until it leaves. */
  connect(engine: Engine, transport: Transport, trace?: Trace): Connection {
    return new Connection(this, engine, transport, trace);
  }

  /** What an event becomes. All clients of the door are told one after another, so remembering one event is enough. */
  encode(event: ThreadEvent): readonly Encoded[] {
    if (this.#event === event) return this.#encoded;
    this.#encoded = this.dialect.outbound(event).map((message) => this.#encodeOne(message));
    this.#event = event;
    return this.#encoded;
  }

  #encodeOne(message: Outbound): Encoded {
    if (message.kind !== "tell") return message;
    const { header } = this.dialect.vocabulary;
    return { kind: "line", line: encodeNotification(message.method, message.params, { header }) };
  }
}
