import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { parseRendezvousLine, RUN_FILES, RunningServer } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import { FlintConnectionError } from "../errors.ts";
import { rendezvousTransport } from "./socket-transport.ts";
import { type WebSocketLike, webSocketTransport } from "./web-socket-transport.ts";

/** A running server by URL: `ws://` on this machine, `wss://` elsewhere. Speaks the Flint protocol unless the path names another. */
export interface UrlLocation {
  readonly url: string;
  readonly token?: string | undefined;
  /** A file that holds the token. */
  readonly tokenFile?: string | undefined;
  /** The server's state folder, if it is on this machine; the token is read from there. */
  readonly home?: string | undefined;
  /** A WebSocket class that can send headers; defaults to that of the `ws` package, which must be installed. */
  readonly webSocket?: WebSocketConstructor | undefined;
}

/** A running server by the unix socket of `flint serve --listen unix:PATH`. */
export interface SocketLocation {
  readonly socket: string;
}

/** The running server of a state folder on this machine, such as ~/.local/state/flint. */
export interface HomeLocation {
  readonly home: string;
  /** The default folder of new threads; this program's working directory if absent. */
  readonly cwd?: string | undefined;
}

/** A WebSocket class with the constructor of the `ws` package. */
export type WebSocketConstructor = new (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>> },
) => WebSocketLike;

/** Connects to a URL. A token is never sent to another machine in clear text, and the local token never leaves this one. */
export function urlTransport(location: UrlLocation): Transport {
  const url = URL.canParse(location.url) ? new URL(location.url) : undefined;
  if (url?.protocol !== "ws:" && url?.protocol !== "wss:") {
    throw unreachable(`url takes ws:// or wss://; not ${JSON.stringify(location.url)}.`);
  }
  if (url.pathname === "/") url.pathname = "/flint";
  const token = tokenFor(location, url);
  const reason = token === undefined ? undefined : clearTextRefusal(url);
  if (reason !== undefined) throw unreachable(reason);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const Constructor = location.webSocket ?? defaultWebSocket();
  return webSocketTransport(new Constructor(url.href, { headers }));
}

/** Connects to the running server of a state folder. Throws if there is none. */
export function homeTransport({ home, cwd = process.cwd() }: HomeLocation): Transport {
  const running = readRunningServer(home);
  if (running !== undefined)
    return rendezvousTransport(running.socket, { protocol: "flint", cwd: resolve(cwd) });
  throw unreachable(
    `No server is running for ${home}. Start one with flint serve --listen local, or leave out home.`,
  );
}

function tokenFor({ token, tokenFile, home }: UrlLocation, url: URL): string | undefined {
  if (token !== undefined) return token;
  if (tokenFile !== undefined) return readFileSync(tokenFile, "utf8").trim();
  return home !== undefined && isLoopback(url.hostname) ? readHomeToken(home) : undefined;
}

/** Loaded from the program's own dependencies, since this package does not depend on it. */
function defaultWebSocket(): WebSocketConstructor {
  const load: (name: string) => { readonly WebSocket: WebSocketConstructor } = createRequire(import.meta.url);
  // Expected: it is not installed.
  try {
    return load("ws").WebSocket;
  } catch (cause) {
    const way = "Install it (npm install ws), or give a class like its WebSocket as webSocket.";
    throw unreachable(`Connecting by url needs the package ws. ${way}`, cause);
  }
}

function unreachable(message: string, cause?: unknown): FlintConnectionError {
  return new FlintConnectionError("closed", message, cause === undefined ? {} : { cause });
}

/**
 * Reports whether a host is this machine. Names other than localhost do not count, because they may resolve
 * to anything.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** The reason a token must not be sent to a URL, if others could read it on the way. */
export function clearTextRefusal({ protocol, hostname, origin }: URL): string | undefined {
  if (protocol !== "ws:" || isLoopback(hostname)) return undefined;
  return `${origin} would carry the token in clear. Use wss://, with TLS in front of the server.`;
}

const OTHERS = 0o077;

/** Returns the record of the running server in a state folder, which may have crashed since. */
export function readRunningServer(home: string): RunningServer | undefined {
  const text = readOwn(join(home, RUN_FILES.server));
  return text === undefined ? undefined : parseRendezvousLine(RunningServer, text);
}

/** The token of a state folder's server, if there is one. */
export function readHomeToken(home: string): string | undefined {
  const token = readOwn(join(home, RUN_FILES.token))?.trim();
  return token === "" ? undefined : token;
}

/** Reads a file that only this user can have written. */
function readOwn(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    // Missing, or a link.
    return undefined;
  }
  try {
    const { mode, uid } = fstatSync(file);
    const isOwn = process.getuid === undefined || uid === process.getuid();
    return isOwn && (mode & OTHERS) === 0 ? readFileSync(file, "utf8") : undefined;
  } finally {
    closeSync(file);
  }
}
