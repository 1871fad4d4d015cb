import { lookup as resolveName } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { errorMessage, lazy } from "@flint/protocol";

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_REDIRECTS = 5;

/** Content types that are text. */
const TEXT_TYPES = /^(text\/|application\/([a-z.+-]*\+)?(json|xml|xhtml|javascript|yaml)\b)/i;

/** A page that was fetched. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Whether it was truncated. */
  readonly isCut: boolean;
}

/** Why a page was not fetched, for the user and the model. */
export class PageError extends Error {
  override readonly name = "PageError";
}

/** The limits of a request. */
export interface PageRequestOptions {
  readonly signal: AbortSignal;
  /** Called for every address before it is connected to, after the name was resolved. */
  readonly isAllowedAddress: AddressRule;
  /** Called for every redirect. May ask the user, so the time limit of a request does not run meanwhile. */
  readonly isAllowedRedirect: (url: URL) => boolean | Promise<boolean>;
}

/** Fetches a text page. Throws a PageError for anything else, and on timeouts and rejected redirects. */
export async function requestPage(address: string, options: PageRequestOptions): Promise<Page> {
  let url = parseWebUrl(address);
  for (let count = 0; count <= MAX_REDIRECTS; count += 1) {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const signal = AbortSignal.any([options.signal, timeout]);
    // Expected: any network error.
    try {
      const response = await respond(url, options.isAllowedAddress, signal);
      const target = redirectOf(response, url);
      if (target === undefined) return await readPage(url, response, signal);
      response.destroy();
      if (!(await options.isAllowedRedirect(target)))
        throw new PageError(`${url.host} redirects to ${target.host}, which is not allowed.`);
      url = target;
    } catch (thrown) {
      if (thrown instanceof PageError) throw thrown;
      if (timeout.aborted)
        throw new PageError(`${url.host} did not answer within ${TIMEOUT_MS / 1000} seconds.`);
      const reason = errorMessage(thrown);
      throw new PageError(`${url.host} could not be reached: ${reason}`, { cause: thrown });
    }
  }
  throw new PageError(`${address} redirects more than ${MAX_REDIRECTS} times.`);
}

/** Parses an http or https URL without credentials. Throws a PageError for any other. */
export function parseWebUrl(address: string, base?: URL): URL {
  if (!URL.canParse(address, base?.href)) throw new PageError(`${address} is not a web URL.`);
  const url = new URL(address, base);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new PageError(`Only http and https URLs are fetched, not ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") throw new PageError("A URL must not contain credentials.");
  url.hash = "";
  return url;
}

function respond(url: URL, isAllowedAddress: AddressRule, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isAllowedAddress(host)) throw notAllowed(host);
  const request = url.protocol === "https:" ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url, {
      // A new connection: a pooled one could have been made under another rule.
      agent: false,
      headers: {
        accept: "text/html, text/plain, application/json;q=0.9, */*;q=0.1",
        "accept-encoding": "identity",
        "user-agent": "Flint",
      },
      lookup: checkedLookup(isAllowedAddress),
      signal,
    });
    sent.once("socket", (socket) =>
      socket.once("connect", () => {
        if (!isAllowedAddress(socket.remoteAddress ?? ""))
          sent.destroy(notAllowed(socket.remoteAddress ?? host));
      }),
    );
    sent.once("response", resolve);
    sent.once("error", reject);
    sent.end();
  });
}

/** Resolves a name to allowed addresses only, so that the address that was checked is the one that is used. */
function checkedLookup(isAllowedAddress: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      const allowed = error === null ? found.filter(({ address }) => isAllowedAddress(address)) : [];
      const [first] = allowed;
      if (error !== null) return callback(error, "", 0);
      if (first === undefined) return callback(notAllowed(hostname), "", 0);
      if (options.all === true) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
}

function notAllowed(host: string): PageError {
  return new PageError(`${host} is this machine or a private network, which is not fetched from.`);
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage, from: URL): URL | undefined {
  const isRedirect = [301, 302, 303, 307, 308].includes(statusCode);
  return isRedirect && headers.location !== undefined ? parseWebUrl(headers.location, from) : undefined;
}

async function readPage(url: URL, response: IncomingMessage, signal: AbortSignal): Promise<Page> {
  const { headers, statusCode: status = 0 } = response;
  const contentType = headers["content-type"] ?? "text/plain";
  const encoding = headers["content-encoding"] ?? "identity";
  if (!TEXT_TYPES.test(contentType) || encoding !== "identity") {
    response.destroy();
    throw new PageError(`${url.href} is ${encoding === "identity" ? contentType : encoding}, not text.`);
  }
  const { bytes, isCut } = await readAtMost(response, signal);
  return { url: url.href, status, contentType, text: decode(bytes, contentType), isCut };
}

async function readAtMost(response: IncomingMessage, signal: AbortSignal) {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of response) {
    const bytes = Buffer.from(piece);
    pieces.push(bytes);
    size += bytes.length;
    if (size > MAX_BYTES || signal.aborted) break;
  }
  signal.throwIfAborted();
  return { bytes: Buffer.concat(pieces).subarray(0, MAX_BYTES), isCut: size > MAX_BYTES };
}

function decode(bytes: Buffer, contentType: string): string {
  const label = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  // Expected: an unknown encoding.
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}

/** Decides whether an address may be connected to. */
export type AddressRule = (address: string) => boolean;

const PRIVATE = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // The wire server of Azure, which looks like a public address.
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];
/** Of IPv6 only global unicast; the rest embeds IPv4 addresses or belongs to a local network. */
const PUBLIC_6 = ["2000::/3"];
const TUNNELS_6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

/** Created on first use: few turns connect anywhere. */
const lists = lazy(() => ({
  private: listOf(PRIVATE, "ipv4"),
  public6: listOf(PUBLIC_6, "ipv6"),
  tunnels6: listOf(TUNNELS_6, "ipv6"),
}));

/** Whether an address is on the public internet, and neither this machine nor a private network. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !lists().private.check(address, "ipv4");
    case 6:
      return lists().public6.check(address, "ipv6") && !lists().tunnels6.check(address, "ipv6");
    default:
      return false;
  }
}

function listOf(networks: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
