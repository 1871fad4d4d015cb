/** A value, or the reason why the input is not one. */
export type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

/** Addresses that share their first bits, as a rule names them: one address, or a network such as 10.0.0.0/8. */
export interface AddressBlock {
  /** The only spelling that is accepted. */
  readonly text: string;
  readonly bits: bigint;
  readonly width: 32 | 128;
  readonly prefix: number;
}

/** The networks that a rule may name addresses of. */
const PRIVATE = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"];

/** Networks that no rule opens, also where they are inside of a private one. */
const CLOSED = {
  own: ["0.0.0.0/8", "127.0.0.0/8", "::/127"],
  metadata: [
    ...["169.254.0.0/16", "100.100.100.200", "168.63.129.16", "192.0.0.0/24"],
    ...["fe80::/10", "fd00:ec2::/32", "fd20:ce::254"],
  ],
  multicast: ["224.0.0.0/4", "ff00::/8"],
} as const;

/** Parses a private address or a network of them. */
export function parsePrivateBlock(text: string): Parsed<AddressBlock> {
  const refuse = (reason: string): Parsed<AddressBlock> => ({ ok: false, reason });
  const block = blockOf(text);
  if (block === undefined)
    return refuse(
      `${JSON.stringify(text)} is not an address; write one such as 10.1.2.3, 10.0.0.0/8 or fd12:3456::/32`,
    );
  if (isIn(block, blockOf("::ffff:0:0/96"))) return refuse(`write ${text} as an IPv4 address`);
  const closed = closedReason(block);
  if (closed !== undefined) return refuse(`${text} is ${closed}`);
  if (!PRIVATE.some((network) => isIn(block, blockOf(network))))
    return refuse(
      `${text} is not in a private network (${PRIVATE.join(", ")}); for public addresses, name the host alone`,
    );
  const first = (block.bits >> shiftOf(block)) << shiftOf(block);
  if (first !== block.bits) return refuse(`${text} has bits after its first ${block.prefix}`);
  return { ok: true, value: block };
}

/** The reason why no rule opens an address, as a clause; undefined for one that a rule may name. */
export function closedAddressReason(address: string, port: number): string | undefined {
  const block = blockOf(address);
  if (block === undefined) return "not an address";
  const isPrivate = PRIVATE.some((network) => isIn(block, blockOf(network)));
  return closedReason(block, port) ?? (isPrivate ? undefined : "a reserved address, which no rule opens");
}

/** Reports whether an address is one of those that a rule names, and not one that stays closed. */
export function isAddressIn(address: string, block: AddressBlock): boolean {
  const single = blockOf(address);
  return single !== undefined && isIn(single, block) && closedReason(single) === undefined;
}

function closedReason(block: AddressBlock, port = 3000): string | undefined {
  const isClosed = (networks: readonly string[]) => networks.some((network) => isIn(block, blockOf(network)));
  if (isClosed(CLOSED.own)) return `the user's own machine; the rule localhost:${port} opens that port of it`;
  if (isClosed(CLOSED.multicast)) return "multicast, which no rule opens";
  return isClosed(CLOSED.metadata)
    ? "a link-local address or the metadata service of a cloud, which no rule opens"
    : undefined;
}

function isIn(inner: AddressBlock, outer: AddressBlock | undefined): boolean {
  if (outer === undefined || inner.width !== outer.width || inner.prefix < outer.prefix) return false;
  return inner.bits >> shiftOf(outer) === outer.bits >> shiftOf(outer);
}

function shiftOf({ width, prefix }: AddressBlock): bigint {
  return BigInt(width - prefix);
}

function blockOf(text: string): AddressBlock | undefined {
  const [, address = "", length] = /^([0-9a-f.:]+)(?:\/(0|[1-9][0-9]{0,2}))?$/i.exec(text) ?? [];
  const isLong = address.includes(":");
  const bits = isLong ? bitsOf6(address) : bitsOf4(address);
  const width = isLong ? 128 : 32;
  const prefix = length === undefined ? width : Number(length);
  return bits === undefined || prefix > width ? undefined : { text, bits, width, prefix };
}

/** Four decimal numbers without leading zeros: other spellings are read differently by different programs. */
function bitsOf4(address: string): bigint | undefined {
  const parts = address.split(".");
  const isByte = (part: string) => /^(?:0|[1-9][0-9]{0,2})$/.test(part) && Number(part) <= 255;
  return parts.length === 4 && parts.every(isByte) ? joined(parts.map(Number), 8n) : undefined;
}

/** Eight hexadecimal numbers, of which one run of zeros may be left out. */
function bitsOf6(address: string): bigint | undefined {
  const halves = address.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const [head = [], tail, ...more] = halves;
  const known = [...head, ...(tail ?? [])];
  const isComplete = tail === undefined ? known.length === 8 : known.length < 8;
  if (more.length > 0 || !isComplete || !known.every((word) => /^[0-9a-f]{1,4}$/i.test(word)))
    return undefined;
  const words = [...head, ...Array<string>(8 - known.length).fill("0"), ...(tail ?? [])];
  return joined(
    words.map((word) => Number.parseInt(word, 16)),
    16n,
  );
}

function joined(parts: readonly number[], size: bigint): bigint {
  return parts.reduce((bits, part) => (bits << size) | BigInt(part), 0n);
}
