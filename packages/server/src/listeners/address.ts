import { isIP } from "node:net";
import { resolve } from "node:path";

export { clearTextRefusal, isLoopback } from "@flint/sdk";

/** An address of `--listen`. */
export type ListenAddress =
  | { readonly kind: "stdio" }
  /** Only the rendezvous socket in the state folder, for programs of the same user. */
  | { readonly kind: "local" }
  | { readonly kind: "unix"; readonly path: string }
  | { readonly kind: "webSocket"; readonly host: string; readonly port: number };

/** A parsed address, or why it is invalid. */
export type ParsedAddress =
  | { readonly ok: true; readonly address: ListenAddress }
  | { readonly ok: false; readonly reason: string };

const VALID = "stdio, local, unix:PATH, or ws://HOST:PORT (port 0 for a free one)";
const WEB_SOCKET = /^ws:\/\/(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})\/?$/i;

/** Parses an address of `--listen`. */
export function parseAddress(text: string): ParsedAddress {
  if (text === "stdio" || text === "stdio://") return { ok: true, address: { kind: "stdio" } };
  if (text === "local") return { ok: true, address: { kind: "local" } };
  if (text.startsWith("unix:")) return parseUnix(text);
  if (/^(wss|https):/i.test(text)) {
    return invalid(text, "Flint does not serve TLS: listen at ws://127.0.0.1:PORT behind a proxy.");
  }
  const [, host, port] = WEB_SOCKET.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return invalid(text, `Use ${VALID}.`);
  return { ok: true, address: { kind: "webSocket", host: host.toLowerCase(), port: Number(port) } };
}

function parseUnix(text: string): ParsedAddress {
  const path = text.slice("unix:".length).replace(/^\/\//, "");
  if (path === "" || path.includes("\0")) return invalid(text, "Add the path of the socket.");
  return { ok: true, address: { kind: "unix", path: resolve(path) } };
}

function invalid(text: string, fix: string): ParsedAddress {
  return { ok: false, reason: `Invalid --listen address ${JSON.stringify(text)}. ${fix}` };
}

/** The host to bind; `localhost` must not depend on the hosts file. */
export function bindable(host: string): string {
  return host === "localhost" ? "127.0.0.1" : withoutBrackets(host);
}

/** Reports whether a host of a URL or a Host header is an IP address. */
export function isNumeric(host: string): boolean {
  return host.startsWith("[") ? isIP(withoutBrackets(host)) === 6 : isIP(host) === 4;
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
