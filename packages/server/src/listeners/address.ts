import { isIP } from "node:net";
import { resolve } from "node:path";

export { clearTextReason, isLoopback } from "@flint/sdk";

/** A place to listen at. */
export type ListenAddress =
  | { readonly kind: "stdio" }
  /** Nowhere but where programs of the same user find it: in its state folder. */
  | { readonly kind: "local" }
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "webSocket"; readonly host: string; readonly port: number };

/** An address that was understood, or why not, with the way out. */
export type AddressReading =
  | { readonly ok: true; readonly address: ListenAddress }
  | { readonly ok: false; readonly reason: string };

const WAYS = "stdio, local, unix:PATH, or ws://HOST:PORT (port 0 takes a free one)";
const WEB_SOCKET = /^ws:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i;

/** Reads what `--listen` was given. */
export function readAddress(text: string): AddressReading {
  if (text === "stdio" || text === "stdio://") return { ok: true, address: { kind: "stdio" } };
  if (text === "local") return { ok: true, address: { kind: "local" } };
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
