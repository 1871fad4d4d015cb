import { lookup as resolveName } from "node:dns";
import { type ClientRequest, type IncomingMessage, request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { AddressRule } from "./public-address.ts";

const MILLISECONDS = 20_000;
const BYTES = 2 * 1024 * 1024;
const REDIRECTS = 5;

/** What is readable as text. */
const TEXT = /^(text\/|application\/([a-z.+-]*\+)?(json|xml|xhtml|javascript|yaml)\b)/i;

/** A page as it came. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Whether the rest was left out because it is too long. */
  readonly isCut: boolean;
}

/** Why a page is not given; the message is for people and for the model. */
export class PageError extends Error {
  override readonly name = "PageRefusal";
}

/** What bounds a request. */
export interface PageRequestOptions {
  readonly signal: AbortSignal;
  /** Asked for every address that is about to be dialled, after the name was looked up. */
  readonly isAllowedAddress: AddressRule;
  /** Whether it may lead elsewhere; asked for every redirect. */
  readonly isAllowedRedirect: (url: URL) => boolean;
}

/** Gets a page of text. Throws a PageRefusal for everything else, and for whatever is too slow or leads astray. */
export async function requestPage(address: string, wish: PageRequestOptions): Promise<Page> {
  const timeout = AbortSignal.timeout(MILLISECONDS);
  const signal = AbortSignal.any([wish.signal, timeout]);
  let url = parseWebUrl(address);
  for (let count = 0; count <= REDIRECTS; count += 1) {
    // Expected: everything that can happen to a connection.
    try {
      const response = await respond(url, wish.isAllowedAddress, signal);
      const target = redirectOf(response, url);
      if (target === undefined) return await readPage(url, response, signal);
      response.destroy();
      if (!wish.isAllowedRedirect(target))
        throw new PageError(`${url.host} leads to ${target.host}, which is not followed.`);
      url = target;
    } catch (thrown) {
      if (thrown instanceof PageError) throw thrown;
      if (timeout.aborted)
        throw new PageError(`${url.host} did not answer within ${MILLISECONDS / 1000} seconds.`);
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      throw new PageError(`${url.host} could not be reached: ${reason}`, { cause: thrown });
    }
  }
  throw new PageError(`${address} leads on more than ${REDIRECTS} times.`);
}

/** An address of the web without a name and password in it. Throws a PageRefusal for any other. */
export function parseWebUrl(address: string, base?: URL): URL {
  if (!URL.canParse(address, base?.href)) throw new PageError(`${address} is not an address of the web.`);
  const url = new URL(address, base);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new PageError(`Only http and https addresses are fetched, not ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "") throw new PageError("An address must not hold a password.");
  url.hash = "";
  return url;
}

function respond(url: URL, isAllowedAddress: AddressRule, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isAllowedAddress(host)) throw notDialled(host);
  const request = url.protocol === "https:" ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url, {
      // A connection of its own: one that is kept could have been made for another rule.
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
          sent.destroy(notDialled(socket.remoteAddress ?? host));
      }),
    );
    sent.once("response", resolve);
    sent.once("error", reject);
    sent.end();
  });
}

/** Looks a name up and gives only addresses that may be dialled, so the one that was checked is the one that is used. */
function checkedLookup(isAllowedAddress: AddressRule): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(hostname, { ...options, all: true }, (error, found) => {
      const allowed = error === null ? found.filter(({ address }) => isAllowedAddress(address)) : [];
      const [first] = allowed;
      if (error !== null) return callback(error, "", 0);
      if (first === undefined) return callback(notDialled(hostname), "", 0);
      if (options.all === true) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };
}

function notDialled(host: string): PageError {
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
  if (!TEXT.test(contentType) || encoding !== "identity") {
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
    if (size > BYTES || signal.aborted) break;
  }
  signal.throwIfAborted();
  return { bytes: Buffer.concat(pieces).subarray(0, BYTES), isCut: size > BYTES };
}

function decode(bytes: Buffer, contentType: string): string {
  const label = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  // Expected: an encoding that nobody knows.
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}
