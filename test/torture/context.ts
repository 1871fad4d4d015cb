import { connect } from "node:net";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder, WireClient } from "@flint/testkit";
import { type BuiltPrograms, buildPrograms } from "../server/build.ts";
import { plainEnvironment } from "../server/plain-environment.ts";
import { faultsIn } from "./protocol-lines.ts";
import { type ServerKind, TortureServer } from "./server.ts";

/** Options for starting a server. */
export interface StartOptions {
  readonly kind: ServerKind;
  /** Its store; a new one by default. */
  readonly home?: string;
  readonly cwd?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Shell commands that run in its process before it, such as `umask 022`. */
  readonly before?: string;
  /** False: the case says `initialize` itself. */
  readonly initialize?: boolean;
}

/** The output of all servers of all cases, for the case that checks all of it. */
export class Ledger {
  lines = 0;
}

/** The means of a case: servers and folders that are gone when it ends, in any way. */
export class Context {
  /** Small numbers for a quick run on a busy machine. */
  readonly short: boolean;
  readonly ledger: Ledger;
  readonly #clients: WireClient[] = [];
  readonly #folders: TemporaryFolder[] = [];
  readonly #cleanups: (() => Promise<void>)[] = [];

  constructor(short: boolean, ledger: Ledger = new Ledger()) {
    this.short = short;
    this.ledger = ledger;
  }

  /** One of two numbers, by the length of the run. */
  choose<Value>(full: Value, short: Value): Value {
    return this.short ? short : full;
  }

  /** Factor on the promised time after which a wait is given up. */
  get patience(): number {
    return this.choose(2, 10);
  }

  /** A new folder. */
  async folder(): Promise<string> {
    const folder = await temporaryFolder();
    this.#folders.push(folder);
    return folder.path;
  }

  /** Starts a server and initializes a connection to it. */
  async start(options: StartOptions): Promise<TortureServer> {
    const home = options.home ?? join(await this.folder(), "home");
    const cwd = options.cwd ?? (await this.folder());
    const program = programOf(await buildPrograms(), options.kind);
    const before = options.before === undefined ? "" : `${options.before}; `;
    const command = ["sh", "-c", `${before}exec "$@"`, "sh", process.execPath, ...program, "--cwd", cwd];
    const wire = WireClient.spawn([...command, ...(options.args ?? [])], {
      cwd,
      env: { ...plainEnvironment(home), ...options.env },
    });
    this.#clients.push(wire);
    const server = new TortureServer(wire, options.kind);
    if (options.initialize !== false) await server.initialize();
    return server;
  }

  /** One more client of a scripted server that was started with FLINT_TEST_SOCKET. */
  async join(socketPath: string): Promise<TortureServer> {
    const socket = connect(socketPath);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    const client = new TortureServer(WireClient.over(socket, socket), "scripted");
    this.#clients.push(client.wire);
    this.atEnd(async () => void socket.destroy());
    await client.initialize();
    return client;
  }

  /** Does this when the case has ended and its servers are gone; the last one added comes first. */
  atEnd(action: () => Promise<void>): void {
    this.#cleanups.push(action);
  }

  /** Ends everything. Gives what was wrong with the lines that the servers wrote. */
  async close(): Promise<string[]> {
    for (const client of this.#clients) client.kill("SIGKILL");
    await Promise.all(this.#clients.map((client) => client.pid !== undefined && client.exited));
    for (const action of this.#cleanups.reverse()) await action();
    for (const folder of this.#folders) await folder.remove();
    return this.#clients.flatMap(({ lines }) => {
      this.ledger.lines += lines.length;
      return faultsIn(lines);
    });
  }
}

function programOf(programs: BuiltPrograms, kind: ServerKind): readonly string[] {
  return kind === "flint" ? [programs.flint, "serve", "--stdio"] : [programs.scriptedServer];
}
