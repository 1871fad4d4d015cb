import type { Clock } from "@flint/core/ports";
import { errorMessage } from "@flint/protocol";
import { type AgentEvent, type FlintClient, FlintConnectionError } from "@flint/sdk";

/** A server that a session uses. */
export interface SessionServer {
  readonly client: FlintClient;
  /** True if the server continues without this session. */
  readonly isShared: boolean;
  /** A notice for the user about it. */
  readonly notice?: string | undefined;
  close(): Promise<void>;
}

/** Receives the reports of a connection. */
export interface ConnectionListener {
  opened(server: SessionServer): void;
  /** The server cannot be reached. `again` is false if no further attempt is made. */
  lost(reason: string, again: boolean): void;
  event(event: AgentEvent): void;
}

/**
 * Reports whether a request failed because the connection ended: it is made again, and everything is tried
 * once more.
 */
export function isLost(thrown: unknown): boolean {
  return thrown instanceof FlintConnectionError && !["timedOut", "badAnswer"].includes(thrown.kind);
}

/** Delays before each further attempt to connect; the last one is used again and again. */
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000];

/** The connection of a session to its server: it is made again when it breaks. */
export class Connection {
  readonly #open: () => Promise<SessionServer>;
  readonly #listener: ConnectionListener;
  readonly #clock: Pick<Clock, "after">;
  #server: SessionServer | undefined;
  #attempts = 0;
  #cancel: (() => void) | undefined;
  #stopped = false;

  constructor(open: () => Promise<SessionServer>, listener: ConnectionListener, clock: Pick<Clock, "after">) {
    this.#open = open;
    this.#listener = listener;
    this.#clock = clock;
  }

  /** The client; undefined while the server cannot be reached. */
  get client(): FlintClient | undefined {
    return this.#server?.client;
  }

  /** Connects. What fails at first is not tried again until the user wants it: their configuration may be at fault. */
  async start(): Promise<void> {
    try {
      const server = await this.#open();
      if (this.#stopped) return await server.close();
      this.#attempts = 0;
      this.#use(server);
    } catch (thrown) {
      this.#failed(thrown);
    }
  }

  /** Closes the connection. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  #use(server: SessionServer): void {
    this.#server = server;
    server.client.subscribe({
      event: (event) => this.#listener.event(event),
      ended: (error) => this.#ended(server, error?.message ?? "The connection was closed."),
    });
    this.#listener.opened(server);
  }

  #ended(server: SessionServer, reason: string): void {
    if (this.#stopped || this.#server !== server) return;
    this.#server = undefined;
    void server.close();
    this.#retry(reason);
  }

  #failed(thrown: unknown): void {
    if (this.#stopped) return;
    const reason = errorMessage(thrown);
    if (this.#attempts === 0) this.#listener.lost(reason, false);
    else this.#retry(reason);
  }

  #retry(reason: string): void {
    this.#listener.lost(reason, true);
    const wait = RETRY_MS[Math.min(this.#attempts, RETRY_MS.length - 1)] ?? 0;
    this.#attempts += 1;
    this.#cancel = this.#clock.after(wait, () => void this.start());
  }
}
