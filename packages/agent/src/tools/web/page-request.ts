import type { LookupAddress, LookupOptions } from "node:dns";
import { lookup as resolveName } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isOwnServer, isPublicAddress } from "@flint/host/addresses";
import { errorMessage } from "@flint/protocol";

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
  /** True if it was truncated. */
  readonly isCut: boolean;
}

/** The reason a page was not fetched, for the user and the model. */
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

async function respond(url: URL, isAllowed: AddressRule, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  if (isIP(host) !== 0 && !(await isAllowed(host, port))) throw notAllowed(host);
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
      lookup: checkedLookup(isAllowed, port),
      signal,
    });
    const sendTo = async (address = "") => {
      if (!(await isAllowed(address, port))) throw notAllowed(address || host);
      sent.end();
    };
    // Nothing is sent before the address that was connected to is checked too.
    sent.once("socket", (socket) =>
      socket.once("connect", () => sendTo(socket.remoteAddress).catch((thrown) => sent.destroy(thrown))),
    );
    sent.once("response", resolve);
    sent.once("error", reject);
  });
}

/** Resolves a name to allowed addresses only, so that the address that was checked is the one that is used. */
function checkedLookup(isAllowed: AddressRule, port: number): LookupFunction {
  const allowedOf = async (hostname: string, options: LookupOptions): Promise<LookupAddress[]> => {
    const found = await resolveName(hostname, { ...options, all: true });
    const areAllowed = await Promise.all(found.map(({ address }) => isAllowed(address, port)));
    const allowed = found.filter((_, at) => areAllowed[at]);
    if (allowed.length === 0) throw notAllowed(hostname);
    return allowed;
  };
  return (hostname, options, callback) => {
    const pass = (allowed: LookupAddress[]) => {
      const [{ address, family } = { address: "", family: 0 }] = allowed;
      if (options.all === true) callback(null, allowed);
      else callback(null, address, family);
    };
    allowedOf(hostname, options).then(pass, (error) => callback(error, "", 0));
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

/** Decides whether an address may be connected to at a port. */
export type AddressRule = (address: string, port: number) => boolean | Promise<boolean>;

/** Allows everything but a Flint server of this machine, to which a client acts as the user. */
export async function isNoOwnServer(
  address: string,
  port: number,
  ownAddresses?: readonly string[],
): Promise<boolean> {
  return !(await isOwnServer([address], port, ownAddresses));
}

/** Allows what is on the public internet, other than a Flint server of this machine. */
export async function isFetchable(
  address: string,
  port: number,
  ownAddresses?: readonly string[],
): Promise<boolean> {
  return isPublicAddress(address) && isNoOwnServer(address, port, ownAddresses);
}
