/** The protocols of addresses; what else git knows by a name would be a program that connects it. */
const PROTOCOL = /^(?:https?|ssh|git|file):\/\//i;

/** `user@host:path`, with a host that ssh cannot take for an option. */
const SSH_PATH = /^(?:[\w.+][\w.+-]*@)?[\w[][\w.[\]-]*:(?!:|\/\/)/;

/**
 * Whether this is where a repository can be, and nothing else: not an option, not a transport helper such as `ext::`, which
 * runs a command, and not the name of a remote.
 */
export function isRemoteAddress(url: string): boolean {
  if (/[\s\p{Cc}]/u.test(url) || /^[\w+.-]*::/.test(url)) return false;
  if (PROTOCOL.test(url)) return !/^\w+:\/\/(?:[^/]*@)?-/.test(url);
  return url.startsWith("/") || SSH_PATH.test(url);
}

/** Two addresses of a repository that differ only in how they are written. */
export function isSameRemote(one: string, other: string): boolean {
  const plain = (url: string) => url.replace(/\/+$/, "").replace(/\.git$/, "");
  return plain(one) === plain(other);
}

/** Whether an address is this one or below it, in whole names: `https://git.example/team` has `…/team/app`, not `…/teams`. */
export function isBelowRemote(url: string, above: string): boolean {
  if (isSameRemote(url, above)) return true;
  const start = /[/:]$/.test(above) ? above : `${above}/`;
  const rest = url.slice(start.length).replaceAll(/%2e/gi, ".").replaceAll(/%2f/gi, "/");
  return url.startsWith(start) && !rest.split(/[/\\]/).includes("..");
}

/** An address without a user name and password. */
export function shownAddress(url: string): string {
  return url.replace(/\/\/[^/@]*@/, "//");
}
