import type { IncomingHttpHeaders } from "node:http";
import { type FrontendName, isFrontendName } from "../frontends.ts";
import { isLoopback, isNumeric } from "./address.ts";

/** The head of an HTTP request. */
export interface RequestHead {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** True if it asks for a WebSocket. */
  readonly upgrade: boolean;
}

/** Conditions for accepting a request, and the front end that serves it. */
export interface AccessRules {
  readonly host: string;
  readonly port: number;
  /** The front end at `/`. */
  readonly root: FrontendName;
  /** Checks a token; undefined if no token is required. */
  readonly isToken: ((given: string) => boolean) | undefined;
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
}

/** The front end for a request, or the status that rejects it. A rejection reveals nothing else. */
export type Authorization =
  | { readonly to: FrontendName }
  | { readonly to: "health" }
  | { readonly to: undefined; readonly status: 401 | 403 | 404 | 405 | 421 | 426 };

const HEALTH_PATHS = ["/healthz", "/readyz"];

/**
 * Authorizes a request by its head alone. Host and Origin are checked first, so that a web page learns nothing; then the
 * token; only a client that has it learns which paths exist.
 */
export function authorizeRequest(request: RequestHead, rules: AccessRules): Authorization {
  const { headers, method, upgrade } = request;
  if (!isOwnHost(headers.host, rules)) return reject(421);
  if (headers.origin !== undefined && !rules.allowOrigins.includes(headers.origin)) return reject(403);
  const [path = ""] = request.url.split("?");
  if (HEALTH_PATHS.includes(path) && !upgrade) {
    return method === "GET" || method === "HEAD" ? { to: "health" } : reject(405);
  }
  if (!hasToken(headers.authorization, rules)) return reject(401);
  const frontend = frontendAt(path, rules.root);
  if (frontend === undefined) return reject(404);
  return upgrade && method === "GET" ? { to: frontend } : reject(426);
}

function reject(status: 401 | 403 | 404 | 405 | 421 | 426): Authorization {
  return { to: undefined, status };
}

/** Guards against DNS rebinding: a page whose name was made to resolve to this machine sends that name; IP addresses are safe. */
function isOwnHost(given: string | undefined, { host, port, allowHosts }: AccessRules): boolean {
  const asked = given?.toLowerCase() ?? "";
  if (allowHosts.some((allowed) => allowed.toLowerCase() === asked)) return true;
  const [, name = "", portText = "80"] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(asked) ?? [];
  if (name === "" || Number(portText) !== port) return false;
  return isLoopback(name) || name === host || (!isLoopback(host) && isNumeric(name));
}

function hasToken(given: string | undefined, { isToken }: AccessRules): boolean {
  if (isToken === undefined) return true;
  const [, token = ""] = /^Bearer ([\x21-\x7e]+)$/i.exec(given ?? "") ?? [];
  return isToken(token);
}

function frontendAt(path: string, root: FrontendName): FrontendName | undefined {
  if (path === "/") return root;
  const name = path.slice(1);
  return isFrontendName(name) ? name : undefined;
}
