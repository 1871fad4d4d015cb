import { isIP } from "node:net";
import { resolve } from "node:path";

/** A place to listen at. */
export type ListenAddress =
  | { readonly kind: "stdio" }
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "webSocket"; readonly host: string; readonly port: number };

/** An address that was understood, or why not, with the way out. */
export type AddressReading =
  | { readonly ok: true; readonly address: ListenAddress }
  | { readonly ok: false; readonly reason: string };

const WAYS = "stdio, unix:PATH, or ws://HOST:PORT (port 0 takes a free one)";
const WEB_SOCKET = /^ws:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i;

/** Reads what `--listen` was given. */
export function readAddress(text: string): AddressReading {
  if (text === "stdio" || text === "stdio://") return { ok: true, address: { kind: "stdio" } };
  if (text.startsWith("unix:")) return readUnix(text);
  if (/^(wss|https):/i.test(text)) {
    return no(text, "Flint speaks no TLS itself: listen at ws://127.0.0.1:PORT and put a proxy in front.");
  }
  const [, host, port] = WEB_SOCKET.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return no(text, `It takes ${WAYS}.`);
  return { ok: true, address: { kind: "webSocket", host: host.toLowerCase(), port: Number(port) } };
}

function readUnix(text: string): AddressReading {
  const path = text.slice("unix:".length).replace(/^\/\//, "");
  if (path === "" || path.includes("\0")) return no(text, "It needs the path of the socket.");
  return { ok: true, address: { kind: "unix", path: resolve(path) } };
}

function no(text: string, why: string): AddressReading {
  return { ok: false, reason: `--listen does not take ${JSON.stringify(text)}. ${why}` };
}

/** Whether only programs of this machine reach a host. A name other than localhost may lead anywhere. */
export function isLoopback(host: string): boolean {
  const bare = withoutBrackets(host);
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** Why a token is not sent to a URL: others could read it on its way. Undefined if they cannot. */
export function clearTextReason({ protocol, hostname, origin }: URL): string | undefined {
  if (protocol !== "ws:" || isLoopback(hostname)) return undefined;
  return `${origin} would carry the token in clear. Use wss://, with TLS in front of the server.`;
}

/** What the system is asked to bind; `localhost` must not depend on what a hosts file says. */
export function bindable(host: string): string {
  return host === "localhost" ? "127.0.0.1" : withoutBrackets(host);
}

/** Whether a host, as a URL or a Host header has it, is a number and no name. */
export function isNumeric(host: string): boolean {
  return host.startsWith("[") ? isIP(withoutBrackets(host)) === 6 : isIP(host) === 4;
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
