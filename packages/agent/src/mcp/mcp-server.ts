import type { McpServerConfig, McpServerStatus } from "@flint/core/ports";
import { McpConnection, RESPONSE_TIMEOUT_MS } from "./connection.ts";
import { McpFailure } from "./failure.ts";
import type { ConnectionOptions } from "./transport/open-transport.ts";

/** The delay before a failed server is tried again; it doubles with each failure in a row. */
const FIRST_DELAY_MS = 30_000;
const MAX_DELAY_MS = 10 * 60_000;

/** One configured server. It is connected when needed, and again with a delay after the connection was lost. */
export class McpServer {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #options: ConnectionOptions;
  readonly #closing = new AbortController();
  #connection: McpConnection | undefined;
  #preparing: Promise<void> | undefined;
  #leaving: Promise<unknown> = Promise.resolve();
  #problem: string | undefined;
  #failures = 0;
  #lostAt = Number.NEGATIVE_INFINITY;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(config: McpServerConfig, options: ConnectionOptions) {
    this.name = config.name;
    this.#config = config;
    this.#options = options;
  }

  /** The connection, while there is one. */
  get connection(): McpConnection | undefined {
    return this.#connection;
  }

  get status(): McpServerStatus {
    const { name } = this;
    if (this.#connection !== undefined) {
      const error = this.#problem ?? this.#connection.tools.problem;
      return { name, status: "ready", ...(error === undefined ? {} : { error }) };
    }
    if (this.#preparing !== undefined || this.#problem === undefined) return { name, status: "starting" };
    return { name, status: "failed", error: this.#problem };
  }

  /** Connects it, or refreshes its tools, within a bounded time. Never rejects. */
  prepare(): Promise<void> {
    this.#preparing ??= this.#prepare().finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  /** Stops it and everything it started. */
  async close(): Promise<void> {
    this.#closing.abort("Flint is shutting down.");
    await this.#preparing;
    await this.#connection?.close();
    await this.#leaving;
  }

  async #prepare(): Promise<void> {
    const isBackingOff = this.#connection === undefined && this.#options.clock.now() < this.#retryAt;
    if (isBackingOff || this.#closing.signal.aborted) return;
    const stop = new AbortController();
    const onClose = () => stop.abort(this.#closing.signal.reason);
    this.#closing.signal.addEventListener("abort", onClose, { once: true });
    const timeout = `It did not answer within ${RESPONSE_TIMEOUT_MS / 1000} seconds.`;
    const cancel = this.#options.clock.after(RESPONSE_TIMEOUT_MS, () => stop.abort(timeout));
    try {
      if (this.#connection === undefined) await this.#connect(stop.signal);
      else await this.#connection.refreshTools(stop.signal);
      this.#problem = undefined;
    } catch (thrown) {
      // Whatever a server can fail with: it is reported, and the other servers and the turn continue.
      this.#failed(thrown);
    } finally {
      cancel();
      this.#closing.signal.removeEventListener("abort", onClose);
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const connection = await McpConnection.open(this.#config, this.#options, signal);
    this.#connection = connection;
    this.#failures = 0;
    const left = connection.closed.then((ending) => this.#lost(connection, ending));
    this.#leaving = Promise.all([this.#leaving, left]);
  }

  #failed(thrown: unknown): void {
    this.#problem = thrown instanceof McpFailure ? thrown.message : "It failed for an unknown reason.";
    // If the list could not be refreshed, the old one stays in use.
    if (this.#connection !== undefined) return;
    this.#failures += 1;
    const delay = Math.min(FIRST_DELAY_MS * 2 ** (this.#failures - 1), MAX_DELAY_MS);
    this.#retryAt = this.#options.clock.now() + delay;
  }

  /** After the first loss the next turn reconnects at once; after another one soon, with a delay. */
  #lost(connection: McpConnection, ending: string): Promise<void> {
    const now = this.#options.clock.now();
    const isRepeated = now - this.#lostAt < FIRST_DELAY_MS;
    this.#connection = undefined;
    this.#problem = ending;
    this.#lostAt = now;
    this.#retryAt = isRepeated ? now + FIRST_DELAY_MS : now;
    return connection.close();
  }
}
