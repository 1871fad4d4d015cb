import type { McpServerConfig, McpServerStatus } from "@flint/core/ports";
import { McpConnection, RESPONSE_TIMEOUT_MS } from "./connection.ts";
import { McpFailure } from "./failure.ts";
import type { ConnectionOptions } from "./transport/open-transport.ts";

/** How long a server that failed is left alone; the time doubles with each failure in a row. */
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 10 * 60_000;

/** One configured server. It is connected to when it is needed, and again after it was lost, but not all the time. */
export class McpServer {
  readonly name: string;
  readonly #config: McpServerConfig;
  readonly #setup: ConnectionOptions;
  readonly #closing = new AbortController();
  #connection: McpConnection | undefined;
  #preparing: Promise<void> | undefined;
  #leaving: Promise<unknown> = Promise.resolve();
  #problem: string | undefined;
  #failures = 0;
  #lostAt = Number.NEGATIVE_INFINITY;
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(config: McpServerConfig, setup: ConnectionOptions) {
    this.name = config.name;
    this.#config = config;
    this.#setup = setup;
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

  /** Makes it ready to be used if it can be, within a bounded time. Never rejects. */
  prepare(): Promise<void> {
    this.#preparing ??= this.#prepare().finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  /** Ends it and everything it started. */
  async close(): Promise<void> {
    this.#closing.abort("Flint ends.");
    await this.#preparing;
    await this.#connection?.close();
    await this.#leaving;
  }

  async #prepare(): Promise<void> {
    const isResting = this.#connection === undefined && this.#setup.clock.now() < this.#retryAt;
    if (isResting || this.#closing.signal.aborted) return;
    const stop = new AbortController();
    const onClose = () => stop.abort(this.#closing.signal.reason);
    this.#closing.signal.addEventListener("abort", onClose, { once: true });
    const late = `It did not answer within ${RESPONSE_TIMEOUT_MS / 1000} seconds.`;
    const cancel = this.#setup.clock.after(RESPONSE_TIMEOUT_MS, () => stop.abort(late));
    try {
      if (this.#connection === undefined) await this.#connect(stop.signal);
      else await this.#connection.refreshTools(stop.signal);
      this.#problem = undefined;
    } catch (thrown) {
      // Whatever a server can fail with: it is shown, and the other servers and the turn go on.
      this.#failed(thrown);
    } finally {
      cancel();
      this.#closing.signal.removeEventListener("abort", onClose);
    }
  }

  async #connect(signal: AbortSignal): Promise<void> {
    const connection = await McpConnection.open(this.#config, this.#setup, signal);
    this.#connection = connection;
    this.#failures = 0;
    const left = connection.closed.then((ending) => this.#lost(connection, ending));
    this.#leaving = Promise.all([this.#leaving, left]);
  }

  #failed(thrown: unknown): void {
    this.#problem = thrown instanceof McpFailure ? thrown.message : "It failed for an unknown reason.";
    // A list that could not be read again leaves the old one in use.
    if (this.#connection !== undefined) return;
    this.#failures += 1;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS);
    this.#retryAt = this.#setup.clock.now() + pause;
  }

  /** The first loss is mended with the next turn; one soon after it has to wait. */
  #lost(connection: McpConnection, ending: string): Promise<void> {
    const now = this.#setup.clock.now();
    const isRepeated = now - this.#lostAt < FIRST_PAUSE_MS;
    this.#connection = undefined;
    this.#problem = ending;
    this.#lostAt = now;
    this.#retryAt = isRepeated ? now + FIRST_PAUSE_MS : now;
    return connection.close();
  }
}
