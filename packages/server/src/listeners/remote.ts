import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { LIMITS } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import { tokenFile as defaultTokenFile } from "../config/environment.ts";
import type { FrontendName } from "../frontends.ts";
import { clearTextRefusal, isLoopback } from "./address.ts";
import { readToken } from "./token.ts";
import { WebSocketTransport, webSocketLibrary } from "./web-socket-transport.ts";

/** The server to connect to, and the token for it. */
export interface RemoteServer {
  readonly url: string;
  /** The path of the URL, unless it has one. */
  readonly protocol: FrontendName | undefined;
  readonly tokenFile: string | undefined;
  /** The token, if it is not in a file. */
  readonly token: string | undefined;
  /** The state folder, which has the token of this machine's server. */
  readonly folder: string;
}

/** An open connection, or why there is none and how to fix it. */
export type RemoteConnection =
  | { readonly ok: true; readonly transport: Transport }
  | { readonly ok: false; readonly reason: string };

/** Connects to a server by its URL. A token is never sent to another machine unencrypted, and this machine's own token never at all. */
export async function connectRemote(server: RemoteServer): Promise<RemoteConnection> {
  const url = urlOf(server);
  if (url === undefined)
    return { ok: false, reason: `--url must start with ws:// or wss://, not ${JSON.stringify(server.url)}.` };
  const token = tokenFor(server, url);
  const reason = token === undefined ? undefined : clearTextRefusal(url);
  if (reason !== undefined) return { ok: false, reason };
  return open(url, token);
}

function urlOf({ url: text, protocol }: RemoteServer): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "ws:" && url.protocol !== "wss:") return undefined;
  if (protocol !== undefined && url.pathname === "/") url.pathname = `/${protocol}`;
  return url;
}

function tokenFor({ tokenFile, token, folder }: RemoteServer, url: URL): string | undefined {
  if (tokenFile !== undefined) return readToken(resolve(tokenFile));
  if (token !== undefined) return token;
  const own = defaultTokenFile(folder);
  return isLoopback(url.hostname) && existsSync(own) ? readToken(own) : undefined;
}

function open(url: URL, token: string | undefined): Promise<RemoteConnection> {
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
      settle({ ok: false, reason: rejection(url, statusCode) });
    });
    webSocket.once("error", ({ message }) => {
      settle({ ok: false, reason: `Cannot reach ${url.origin}: ${message}.` });
    });
  });
}

function rejection(url: URL, status: number): string {
  const fix = STATUS_FIXES[status] ?? "Check that it is a Flint server.";
  return `${url.origin} answered with status ${status}. ${fix}`;
}

const STATUS_FIXES: Readonly<Record<number, string>> = {
  401: "It requires a token: use --token-file FILE or FLINT_TOKEN.",
  404: "It does not serve this protocol.",
  421: "It does not accept this host name; start it with --allow-host.",
  503: "It could not load the front end; see its stderr.",
};
