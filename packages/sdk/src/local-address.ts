import { isIP } from "node:net";

/** Whether only programs of this machine reach a host. A name other than localhost may lead anywhere. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** Why a token is not sent to a URL: others could read it on its way. Undefined if they cannot. */
export function clearTextReason({ protocol, hostname, origin }: URL): string | undefined {
  if (protocol !== "ws:" || isLoopback(hostname)) return undefined;
  return `${origin} would carry the token in clear. Use wss://, with TLS in front of the server.`;
}
