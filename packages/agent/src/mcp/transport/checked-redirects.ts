import type { FetchLike } from "@modelcontextprotocol/client";

const MAX_REDIRECTS = 5;
/** Those that repeat the request as it was. The others would turn a message into a request for a page. */
const REPEATING = [307, 308];

/**
 * A fetch that follows redirects only within the server itself, or from http to https. A server that the user has
 * configured must neither pass its headers on to another one, nor send requests to services of the user's network.
 */
export function checkedRedirects(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    let address = new URL(url);
    for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
      const response = await fetch(address, { ...init, redirect: "manual" });
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || location === null) return response;
      await response.body?.cancel();
      address = redirected(address, location, response.status);
    }
    throw new Error(`It redirects more than ${MAX_REDIRECTS} times.`);
  };
}

function redirected(from: URL, location: string, status: number): URL {
  const to = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  const isSecured = from.protocol === "http:" && to?.protocol === "https:" && to.port === "";
  const isSame = to?.origin === from.origin || (isSecured && to.hostname === from.hostname);
  if (to !== undefined && isSame && REPEATING.includes(status)) return to;
  const where = to === undefined || isSame ? "" : ` to ${to.origin}`;
  throw new Error(
    `It redirects${where} (HTTP ${status}). To allow this, set the new URL in the configuration.`,
  );
}
