import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { LIMITS } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import { tokenFile as usualTokenFile } from "../config/environment.ts";
import type { FrontendName } from "../frontends.ts";
import { clearTextReason, isLoopback } from "./address.ts";
import { readToken } from "./token.ts";
import { WebSocketTransport } from "./web-socket-transport.ts";
import { webSocketLibrary } from "./ws-library.ts";

/** Which server to reach, and what to show it. */
export interface RemotePlace {
  readonly url: string;
  /** Taken as the path unless the URL has one. */
  readonly door: FrontendName | undefined;
  readonly tokenFile: string | undefined;
  /** A token from elsewhere. */
  readonly token: string | undefined;
  /** The state folder, with the token of a server on this machine. */
  readonly folder: string;
}

/** A connection to it, or why there is none and what to do. */
export type Remote =
  | { readonly ok: true; readonly transport: Transport }
  | { readonly ok: false; readonly reason: string };

/** Connects to a server by its URL. A token goes to no other machine in clear, and that of this machine to none at all. */
export async function openRemote(place: RemotePlace): Promise<Remote> {
  const url = urlOf(place);
  if (url === undefined)
    return { ok: false, reason: `--url takes ws:// or wss://; not ${JSON.stringify(place.url)}.` };
  const token = tokenFor(place, url);
  const reason = token === undefined ? undefined : clearTextReason(url);
  if (reason !== undefined) return { ok: false, reason };
  return open(url, token);
}

function urlOf({ url: text, door }: RemotePlace): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "ws:" && url.protocol !== "wss:") return undefined;
  if (door !== undefined && url.pathname === "/") url.pathname = `/${door}`;
  return url;
}

function tokenFor({ tokenFile, token, folder }: RemotePlace, url: URL): string | undefined {
  if (tokenFile !== undefined) return readToken(resolve(tokenFile));
  if (token !== undefined) return token;
  const own = usualTokenFile(folder);
  return isLoopback(url.hostname) && existsSync(own) ? readToken(own) : undefined;
}

function open(url: URL, token: string | undefined): Promise<Remote> {
  const { WebSocket } = webSocketLibrary();
  const webSocket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: 0,
    handshakeTimeout: LIMITS.handshakeMilliseconds,
    followRedirects: false,
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  });
  return new Promise((settle) => {
    webSocket.once("upgrade", ({ socket }) => {
      const transport = new WebSocketTransport(webSocket, socket);
      webSocket.once("open", () => settle({ ok: true, transport }));
    });
    webSocket.once("unexpected-response", (request, { statusCode = 0 }) => {
      request.destroy();
      settle({ ok: false, reason: refusal(url, statusCode) });
    });
    webSocket.once("error", ({ message }) => {
      settle({ ok: false, reason: `Cannot reach ${url.origin}: ${message}.` });
    });
  });
}

function refusal(url: URL, status: number): string {
  const way = STATUS_WAYS[status] ?? "Is it a Flint server?";
  return `${url.origin} answered ${status}. ${way}`;
}

const STATUS_WAYS: Readonly<Record<number, string>> = {
  401: "It needs its token: --token-file FILE, or FLINT_TOKEN.",
  404: "It has no such door.",
  421: "It is not called by that name; start it with --allow-host.",
  503: "It could not open that door; it says why on its stderr.",
};
