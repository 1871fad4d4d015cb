import { connect } from "node:net";
import type { Clock } from "@flint/core/ports";
import { networkReason } from "./ai-sdk/http-connection.ts";
import type { Provider } from "./providers.ts";

/** The reason a list could not be fetched. */
export class ListProblem extends Error {
  override readonly name = "ListProblem";
}

/** Returns the meaning of an HTTP status other than success for the user. */
export function statusProblem(status: number, { authHint }: Provider): string {
  const isKey = status === 401 || status === 403;
  return isKey ? `HTTP ${status}; ${authHint.replace(/\.$/, "")}` : `HTTP ${status}`;
}

/** The headers that carry the key of a provider. */
export function keyHeaders({ kind, apiKey }: Provider): Record<string, string> {
  if (apiKey === undefined) return {};
  if (kind !== "anthropic") return { authorization: `Bearer ${apiKey}` };
  return { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
}

/** The URL of a path of Ollama's own API. */
export function ollamaUrl({ baseUrl }: Provider, path: string): string {
  return `${baseUrl.replace(/\/v\d+$/, "")}${path}`;
}

/**
 * Returns the reason a local URL cannot be connected to; undefined if it can. Cheaper than the first fetch of
 * a process.
 */
export function connectProblem(address: string, clock: Clock, limit: number): Promise<string | undefined> {
  if (!URL.canParse(address)) return Promise.resolve("that is not a URL");
  const { hostname, port, protocol } = new URL(address);
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, "");
    const socket = connect({ host, port: Number(port || (protocol === "https:" ? 443 : 80)) });
    const done = (problem: string | undefined) => {
      cancel();
      socket.destroy();
      resolve(problem);
    };
    const cancel = clock.after(limit, () => done(`no answer within ${limit / 1000} s`));
    socket.once("connect", () => done(undefined)).once("error", (error) => done(networkReason(error)));
  });
}

/** Reads a response as text. Stops soon after the limit. */
export async function readUpTo(response: Response, limit: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > limit) break;
  }
  return text;
}
