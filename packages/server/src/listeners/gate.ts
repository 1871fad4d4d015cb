import type { IncomingHttpHeaders } from "node:http";
import { type FrontendName, isFrontendName } from "../frontends.ts";
import { isLoopback, isNumeric } from "./address.ts";

/** What the gate sees of a request. */
export interface GateRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Whether it asks to become a WebSocket. */
  readonly upgrade: boolean;
}

/** Who may come in, and where the way leads. */
export interface GateRules {
  readonly host: string;
  readonly port: number;
  /** The door at `/`. */
  readonly root: FrontendName;
  /** Whether this is the token; undefined if none is asked for. */
  readonly isToken: ((given: string) => boolean) | undefined;
  readonly allowOrigins: readonly string[];
  readonly allowHosts: readonly string[];
}

/** Where a request may go, or the status that refuses it. A refusal says nothing else. */
export type Judgement =
  | { readonly to: FrontendName }
  | { readonly to: "health" }
  | { readonly to: undefined; readonly status: 401 | 403 | 404 | 405 | 421 | 426 };

const HEALTH_PATHS = ["/healthz", "/readyz"];

/**
 * Judges a request by its head alone. Host and Origin come first, so that a web page learns nothing; then the token;
 * only who has it learns which paths there are.
 */
export function judgeRequest(request: GateRequest, rules: GateRules): Judgement {
  const { headers, method, upgrade } = request;
  if (!isOwnHost(headers.host, rules)) return refuse(421);
  if (headers.origin !== undefined && !rules.allowOrigins.includes(headers.origin)) return refuse(403);
  const [path = ""] = request.url.split("?");
  if (HEALTH_PATHS.includes(path) && !upgrade) {
    return method === "GET" || method === "HEAD" ? { to: "health" } : refuse(405);
  }
  if (!hasToken(headers.authorization, rules)) return refuse(401);
  const door = doorAt(path, rules.root);
  if (door === undefined) return refuse(404);
  return upgrade && method === "GET" ? { to: door } : refuse(426);
}

function refuse(status: 401 | 403 | 404 | 405 | 421 | 426): Judgement {
  return { to: undefined, status };
}

/** A page that makes its own name lead to this machine shows that name here; numbers cannot be made to lead elsewhere. */
function isOwnHost(given: string | undefined, { host, port, allowHosts }: GateRules): boolean {
  const asked = given?.toLowerCase() ?? "";
  if (allowHosts.some((allowed) => allowed.toLowerCase() === asked)) return true;
  const [, name = "", portText = "80"] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(asked) ?? [];
  if (name === "" || Number(portText) !== port) return false;
  return isLoopback(name) || name === host || (!isLoopback(host) && isNumeric(name));
}

function hasToken(given: string | undefined, { isToken }: GateRules): boolean {
  if (isToken === undefined) return true;
  const [, token = ""] = /^Bearer ([\x21-\x7e]+)$/i.exec(given ?? "") ?? [];
  return isToken(token);
}

function doorAt(path: string, root: FrontendName): FrontendName | undefined {
  if (path === "/") return root;
  const name = path.slice(1);
  return isFrontendName(name) ? name : undefined;
}
