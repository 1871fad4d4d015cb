/** An address without what may be secret in it. */
export function shownAddress(address: string): string {
  if (!URL.canParse(address)) return address.split(/[?#]/)[0] ?? "";
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`.replace(/\/$/, "");
}
