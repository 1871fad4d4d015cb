import type { IncomingHttpHeaders } from "node:http";
import type { TaskRight } from "@flint/frontends";
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
  /** Returns the access of a token, `none` if it is not valid; undefined if no token is required. */
  readonly accessOf: ((given: string) => TokenAccess) | undefined;
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
}

/** The access of a token: everything, nothing, or some rights only, which are looked up for each call. */
export type TokenAccess = "all" | "none" | { readonly only: () => readonly TaskRight[] };

/** The front end for a request, or the status that rejects it. A rejection reveals nothing else. */
export type Authorization =
  | { readonly to: FrontendName; readonly only?: () => readonly TaskRight[] }
  | { readonly to: "health" }
  | { readonly to: undefined; readonly status: 401 | 403 | 404 | 405 | 421 | 426 };

/** The front end for tokens that allow only some rights. */
const LIMITED_FRONTEND: FrontendName = "flint";

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
  const access = accessWith(headers.authorization, rules);
  if (access === "none") return reject(401);
  const frontend = frontendAt(path, rules.root);
  if (frontend === undefined) return reject(404);
  if (!upgrade || method !== "GET") return reject(426);
  if (access === "all") return { to: frontend };
  // Other front ends do more for their clients than to call methods.
  return frontend === LIMITED_FRONTEND ? { to: frontend, only: access.only } : reject(403);
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

function accessWith(given: string | undefined, { accessOf }: AccessRules): TokenAccess {
  if (accessOf === undefined) return "all";
  const [, token = ""] = /^Bearer ([\x21-\x7e]+)$/i.exec(given ?? "") ?? [];
  return accessOf(token);
}

function frontendAt(path: string, root: FrontendName): FrontendName | undefined {
  if (path === "/") return root;
  const name = path.slice(1);
  return isFrontendName(name) ? name : undefined;
}
