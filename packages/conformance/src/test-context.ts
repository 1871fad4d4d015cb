import { randomBytes } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import type { Target } from "./target.ts";
import { Failed, NotOffered } from "./wire/pattern.ts";
import { type Entry, Wire, type WireOptions } from "./wire/wire.ts";

/** Options shared by the checks of a suite. */
export interface TestContextOptions extends WireOptions {
  readonly target: Target;
  /** The folder that threads of the checks work in. */
  readonly cwd: string;
}

interface Connection {
  readonly wire: Wire;
  mark: number;
  readonly lasting: boolean;
}

/** Context of a check: connections to the server, a folder to work in, and unused names. */
export class TestContext {
  readonly cwd: string;
  readonly #options: TestContextOptions;
  #connections: Connection[] = [];
  readonly #run = randomBytes(3).toString("hex");
  #names = 0;
  #previous: Entry[] = [];
  readonly #closing: Promise<void>[] = [];

  constructor(options: TestContextOptions) {
    this.cwd = options.cwd;
    this.#options = options;
  }

  /** A new connection. It is closed after the check. */
  async fresh(): Promise<Wire> {
    return this.#open(false);
  }

  /** The connection that the checks share, made ready by the first that needs it. */
  async shared(ready: (wire: Wire) => Promise<void>): Promise<Wire> {
    const found = this.#connections.find(({ wire, lasting }) => lasting && wire.open);
    if (found !== undefined) return found.wire;
    const wire = await this.#open(true);
    await ready(wire);
    return wire;
  }

  /** A further connection to the same server; "not offered" where each connection is a process of its own. */
  async another(): Promise<Wire> {
    if (this.#options.target.shared) return this.#open(false);
    throw new NotOffered(
      "a program on stdin and stdout has one connection; use an address, or a command with ws://127.0.0.1:{port}",
    );
  }

  /** A name for a file that no other check uses, of this run or another. */
  name(): string {
    this.#names += 1;
    return `conformance-${this.#run}-${this.#names}`;
  }

  /** Fails if a file was made in the folder of the checks although its making was not approved. */
  async expectAbsent(name: string): Promise<void> {
    const made = await access(join(this.cwd, name)).then(
      () => true,
      () => false,
    );
    if (made) throw new Failed(`${name} was made without approval`);
  }

  /** A check begins. */
  begin(): void {
    for (const connection of this.#connections) connection.mark = connection.wire.entries.length;
  }

  /**
   * Returns the messages on the connections since the check began, one list for each, that of the shared one
   * first.
   */
  conversations(): Entry[][] {
    const ordered = [...this.#connections].sort((one, other) => Number(other.lasting) - Number(one.lasting));
    return ordered.map(({ wire, mark }) => wire.entries.slice(mark));
  }

  /** Everything that came on any connection so far. */
  everything(): Entry[] {
    return [...this.#previous, ...this.#connections.flatMap(({ wire }) => wire.entries)];
  }

  /** A check is over. After a failure the shared connection is not used again: its state is unknown. */
  end(clean: boolean): void {
    const stays = (connection: Connection): boolean => connection.lasting && clean && connection.wire.open;
    const gone = this.#connections.filter((connection) => !stays(connection));
    this.#connections = this.#connections.filter(stays);
    this.#previous.push(...gone.flatMap(({ wire }) => wire.entries));
    // A program may take its time to end, which no other check has to wait for.
    this.#closing.push(...gone.map(({ wire }) => wire.close()));
  }

  /** All checks are over: resolves when every connection is closed. */
  async finish(): Promise<void> {
    this.end(false);
    await Promise.all(this.#closing);
  }

  async #open(lasting: boolean): Promise<Wire> {
    const wire = new Wire(await this.#options.target.connect(), this.#options);
    this.#connections.push({ wire, mark: 0, lasting });
    return wire;
  }
}
