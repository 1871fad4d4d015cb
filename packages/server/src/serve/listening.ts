import type { Engine } from "@flint/core";
import { type Clock, SYSTEM_CLOCK } from "@flint/core/ports";
import type { Frontend } from "@flint/frontends";
import type { Lock } from "@flint/host/lock";
import { errorMessage } from "@flint/protocol";
import { type FrontendName, type FrontendSettings, Frontends, ROOT_FRONTEND } from "../frontends.ts";
import { isLoopback, type ListenAddress } from "../listeners/address.ts";
import type { TokenAccess } from "../listeners/authorize.ts";
import { Clients, type Listener } from "../listeners/clients.ts";
import type { LimitedTokens } from "../listeners/limited-tokens.ts";
import type { TokenFile } from "../listeners/token.ts";
import { UnixListener } from "../listeners/unix-listener.ts";
import { WebSocketListener } from "../listeners/web-socket-listener.ts";
import { claimServer } from "../single-instance/claim.ts";
import { Presence } from "../single-instance/presence.ts";
import type { FurtherClients } from "./serve-stdio.ts";

/** The addresses to listen on and the clients to accept. */
export interface ListenOptions {
  readonly addresses: readonly Exclude<ListenAddress, { kind: "stdio" | "local" }>[];
  /** The front end of unix sockets. */
  readonly protocol: FrontendName;
  /** The front end at the root of WebSocket listeners. */
  readonly root: FrontendName;
  /** Undefined accepts every client that can reach a port; allowed on loopback addresses only. */
  readonly token: TokenFile | undefined;
  /** Tokens beside it that allow less. */
  readonly limitedTokens?: LimitedTokens | undefined;
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
  /** True if WebSocket clients may add MCP servers that are programs; false by default. */
  readonly allowRemoteMcp?: boolean | undefined;
  /** The place where other programs find this server; undefined hides it. */
  readonly presence: PresencePlace | undefined;
}

/** The state folder of a server, and its working folder. */
export interface PresencePlace {
  readonly folder: string;
  readonly cwd: string;
  /** The lock of the folder, if this process has it already; it is released with the listeners. */
  readonly lock?: Lock | undefined;
}

/** An open listener. */
export interface OpenListener {
  /** Its address, as a client would write it. */
  readonly address: string;
  /** Its front end; for a WebSocket listener, the one at the root. */
  readonly protocol: FrontendName;
  readonly tokenFile: string | undefined;
}

/** Another server is running for the state folder. */
export class AlreadyRunning extends Error {
  constructor(folder: string, pid: number | undefined) {
    const who = pid === undefined ? "" : ` (process ${pid})`;
    const fix =
      "Join it with flint connect, stop it with flint server stop, or start a separate one with --alone or another FLINT_HOME.";
    super(`A server is already running for ${folder}${who}. ${fix}`);
    this.name = "AlreadyRunning";
  }
}

function accessWith(given: string, { token, limitedTokens }: ListenOptions): TokenAccess {
  if (token?.matches(given) === true) return "all";
  const only = limitedTokens?.rightsOf(given);
  return only === undefined ? "none" : { only };
}

/** All listeners of a server and their clients. */
export class Listening implements FurtherClients {
  readonly listeners: OpenListener[] = [];
  readonly #clients: Clients;
  readonly #open: Listener[] = [];
  readonly #clock: Clock;
  #presence: Presence | undefined;

  private constructor(frontends: Frontends, clock: Clock) {
    this.#clients = new Clients(frontends, clock);
    this.#clock = clock;
  }

  /** Opens every listener, or none: rejects with the reason. */
  static async start(frontends: Frontends, options: ListenOptions, clock: Clock): Promise<Listening> {
    for (const address of options.addresses) requireToken(address, options.token);
    const listening = new Listening(frontends, clock);
    // Claimed before anything is opened: of two servers that start at once, only one continues.
    const lock = options.presence === undefined ? undefined : await lockOf(options.presence);
    try {
      for (const address of options.addresses) await listening.#listen(address, options);
    } catch (error) {
      await listening.withdraw();
      await lock?.release();
      throw error;
    }
    try {
      if (options.presence !== undefined && lock !== undefined) {
        await listening.#announce(options.presence, lock);
      }
      return listening;
    } catch (error) {
      await listening.withdraw();
      throw error;
    }
  }

  /** The number of clients that are connected. */
  get size(): number {
    return this.#clients.size;
  }

  /** The number of clients that were accepted so far. */
  get accepted(): number {
    return this.#clients.accepted;
  }

  empty(): Promise<void> {
    return this.#clients.empty();
  }

  idle(): Promise<void> {
    return this.#clients.idle();
  }

  async withdraw(): Promise<void> {
    await this.#presence?.close();
    await Promise.all(this.#open.map((listener) => listener.close()));
  }

  close(): Promise<void> {
    return this.#clients.close();
  }

  async #listen(address: ListenOptions["addresses"][number], options: ListenOptions): Promise<void> {
    const clients = this.#clients;
    const { protocol, root, token, allowHosts, allowOrigins } = options;
    try {
      if (address.kind === "unix") {
        await requireOutsideWorkspaces(address.path);
        const listener = await UnixListener.start({ path: address.path, protocol, clients });
        this.#add(listener, protocol, undefined);
        return;
      }
      const rights = { mayProvidePrograms: options.allowRemoteMcp === true };
      const accessOf = token === undefined ? undefined : (given: string) => accessWith(given, options);
      const rules = { root, accessOf, allowHosts, allowOrigins };
      const { host, port } = address;
      const listener = await WebSocketListener.start({
        ...rules,
        host,
        port,
        clients,
        clock: this.#clock,
        rights,
      });
      this.#add(listener, root, token?.path);
    } catch (error) {
      throw explained(error, address);
    }
  }

  #add(listener: Listener, protocol: FrontendName, tokenFile: string | undefined): void {
    this.#open.push(listener);
    this.listeners.push({ address: listener.address, protocol, tokenFile });
  }

  async #announce({ folder, cwd }: PresencePlace, lock: Lock): Promise<void> {
    const listeners = this.listeners.map(({ address }) => address);
    this.#presence = await Presence.announce({ root: folder, cwd, listeners, clients: this.#clients, lock });
  }
}

/** Resolves when a server has had no client and no work for this long. Running turns and background work count as work. */
export async function idleShutdown(
  listening: Pick<Listening, "empty" | "size" | "accepted">,
  engine: Pick<Engine, "isWorking">,
  clock: Clock,
  milliseconds: number,
): Promise<void> {
  for (;;) {
    await listening.empty();
    const { accepted } = listening;
    await new Promise<void>((resolve) => void clock.after(milliseconds, resolve));
    if (listening.size > 0 || listening.accepted !== accepted) continue;
    if (!engine.isWorking) return;
  }
}

/** A server on stdio that other clients can join. */
export interface SharedServer {
  readonly engine: Engine;
  readonly name: FrontendName;
  /** The state folder. */
  readonly folder: string;
  readonly cwd: string;
  /** The lock of the folder. */
  readonly lock: Lock;
  /** The user's settings for front ends. */
  readonly settings: FrontendSettings;
}

/** Lets other clients find and join a server on stdio. Undefined, with a message on stderr, if that fails. */
export async function shareServer(
  server: SharedServer,
  frontend: Frontend,
): Promise<FurtherClients | undefined> {
  const { engine, folder, cwd, lock, name, settings } = server;
  const frontends = new Frontends(engine, settings);
  void frontends.adopt(name, frontend);
  const options = { addresses: [], token: undefined, allowOrigins: [], allowHosts: [], root: ROOT_FRONTEND };
  try {
    return await Listening.start(
      frontends,
      { ...options, protocol: name, presence: { folder, cwd, lock } },
      SYSTEM_CLOCK,
    );
  } catch (error) {
    // Expected: a state folder that cannot be written. The client on stdio is served all the same.
    const reason = errorMessage(error);
    process.stderr.write(`flint: Other clients cannot join this server: ${reason}\n`);
    return undefined;
  }
}

async function lockOf({ folder, lock }: PresencePlace): Promise<Lock> {
  if (lock !== undefined) return lock;
  const attempt = await claimServer(folder);
  if ("lock" in attempt) return attempt.lock;
  throw new AlreadyRunning(folder, attempt.owner);
}

/** Throws for a port that would be open to other machines without a token. */
function requireToken(address: ListenAddress, token: TokenFile | undefined): void {
  if (address.kind !== "webSocket" || token !== undefined || isLoopback(address.host)) return;
  const why = "anyone who can reach the port could run commands as you";
  throw new Error(
    `--no-token is not allowed with ${address.host}: ${why}. Remove it, or listen at 127.0.0.1.`,
  );
}

/** Throws if agents work in the socket's folder: their sandboxes were set up before the socket and do not cover it. */
async function requireOutsideWorkspaces(path: string): Promise<void> {
  const { busyFolder } = await import("@flint/host/sandbox");
  const folder = await busyFolder(path);
  if (folder === undefined) return;
  const why = `agents or commands are running in ${folder} and could connect to it`;
  throw new Error(
    `Cannot listen at unix:${path}: ${why}. Choose a path outside that folder, or wait until they have finished.`,
  );
}

/** Explains a system error about an address. */
function explained(error: unknown, address: ListenAddress): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const why = typeof code === "string" ? SYSTEM_ERRORS[code] : undefined;
  return why === undefined
    ? error
    : new Error(`Cannot listen at ${addressText(address)}: ${why}`, { cause: error });
}

function addressText(address: ListenAddress): string {
  if (address.kind === "webSocket") return `ws://${address.host}:${address.port}`;
  return address.kind === "unix" ? `unix:${address.path}` : address.kind;
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the address is already in use. Choose another port, or 0 for a free one.",
  EACCES: "permission denied. Choose a port above 1023, or a folder you own.",
  EADDRNOTAVAIL: "this machine does not have that address.",
  ENOTFOUND: "host not found.",
  EINVAL: "invalid path; it may be too long for a socket.",
};
