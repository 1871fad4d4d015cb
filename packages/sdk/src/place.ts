import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import type { Transport } from "@flint/rpc";
import { FlintConnectionError } from "./errors.ts";
import { clearTextReason, isLoopback } from "./local-address.ts";
import { meetingTransport } from "./meeting-transport.ts";
import { readHomeToken, readRunning } from "./running-server.ts";
import { type WebSocketLike, webSocketTransport } from "./web-socket-transport.ts";

/** A server that runs, by its URL: `ws://` on this machine, `wss://` elsewhere. Its Flint door, unless the path names another. */
export interface UrlPlace {
  readonly url: string;
  readonly token?: string | undefined;
  /** A file with the token, if it is not given. */
  readonly tokenFile?: string | undefined;
  /** The state folder of the server, if that is on this machine: its token is taken from there. */
  readonly home?: string | undefined;
  /** What makes WebSockets that can send a header; that of the `ws` package if absent, which then has to be installed. */
  readonly webSocket?: WebSocketMaker | undefined;
}

/** The server at a unix socket, as `flint serve --listen unix:PATH` makes it. */
export interface SocketPlace {
  readonly socket: string;
}

/** The server that runs for a state folder on this machine, such as ~/.local/state/flint. */
export interface HomePlace {
  readonly home: string;
  /** Where threads begin that name no folder; where this program works, if absent. */
  readonly cwd?: string | undefined;
}

/** Makes WebSockets, as the class of the `ws` package does. */
export type WebSocketMaker = new (
  url: string,
  options: { readonly headers: Readonly<Record<string, string>> },
) => WebSocketLike;

/** The way to a server at a URL. A token goes to no other machine in clear, and that of this machine to none at all. */
export function urlTransport(place: UrlPlace): Transport {
  const url = URL.canParse(place.url) ? new URL(place.url) : undefined;
  if (url?.protocol !== "ws:" && url?.protocol !== "wss:") {
    throw unreachable(`url takes ws:// or wss://; not ${JSON.stringify(place.url)}.`);
  }
  if (url.pathname === "/") url.pathname = "/flint";
  const token = tokenFor(place, url);
  const reason = token === undefined ? undefined : clearTextReason(url);
  if (reason !== undefined) throw unreachable(reason);
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const Maker = place.webSocket ?? usualWebSocket();
  return webSocketTransport(new Maker(url.href, { headers }));
}

/** The way to the server that runs for a state folder. Throws if none says that it runs. */
export function homeTransport({ home, cwd = process.cwd() }: HomePlace): Transport {
  const running = readRunning(home);
  if (running !== undefined)
    return meetingTransport(running.socket, { protocol: "flint", cwd: resolve(cwd) });
  throw unreachable(
    `No server runs for ${home}. Start one with flint serve --listen local, or leave out home.`,
  );
}

function tokenFor({ token, tokenFile, home }: UrlPlace, url: URL): string | undefined {
  if (token !== undefined) return token;
  if (tokenFile !== undefined) return readFileSync(tokenFile, "utf8").trim();
  return home !== undefined && isLoopback(url.hostname) ? readHomeToken(home) : undefined;
}

/** Found where the program that uses this package has it; the package itself does without. */
function usualWebSocket(): WebSocketMaker {
  const load: (name: string) => { readonly WebSocket: WebSocketMaker } = createRequire(import.meta.url);
  // Expected: it is not installed.
  try {
    return load("ws").WebSocket;
  } catch (cause) {
    const way = "Install it (npm install ws), or give a class like its WebSocket as webSocket.";
    throw unreachable(`To connect by url the package ws is needed. ${way}`, cause);
  }
}

function unreachable(message: string, cause?: unknown): FlintConnectionError {
  return new FlintConnectionError("closed", message, cause === undefined ? {} : { cause });
}
