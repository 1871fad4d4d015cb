import type { Engine } from "@flint/core";
import type { Transport } from "@flint/rpc";
import { Connection, type ConnectionOptions } from "./connection.ts";
import type { DoorService, ServedDialect } from "./desk.ts";
import type { Dialect } from "./dialect.ts";
import { TableService } from "./table-desk.ts";

/** Any front door: one that is all tables, or one that serves its clients at desks of its own making. */
export type AnyDialect = Dialect | ServedDialect;

/** A dialect in service: connects clients to an engine, and encodes each event once for all of them. */
export class Door {
  readonly dialect: AnyDialect;
  readonly #service: DoorService;

  constructor(dialect: AnyDialect) {
    this.dialect = dialect;
    this.#service = "serve" in dialect ? dialect.serve() : new TableService(dialect);
  }

  /** Serves one client until it leaves. */
  connect(
    engine: Engine,
    transport: Transport,
    options: Pick<ConnectionOptions, "trace" | "rights" | "cwd"> = {},
  ): Connection {
    const { header } = this.dialect.vocabulary;
    const reading = "serve" in this.dialect ? this.dialect.reading : undefined;
    return new Connection(this.#service, engine, transport, { header, reading, ...options });
  }
}
