import { readFile } from "node:fs/promises";
import { isServerPort } from "../sockets.ts";

/** The state of a socket that listens, as the kernel lists it. */
const LISTENING = "0A";

/** Addresses at which a program on this machine answers `localhost`: any address, and loopback, of both families. */
const LOCAL_ADDRESSES: ReadonlySet<string> = new Set([
  ...["00000000", "0100007F"],
  ...["0".repeat(32), `${"0".repeat(24)}01000000`, "0000000000000000FFFF00000100007F"],
]);

/**
 * Whether a program of this machine, other than a Flint server, listens on a port of `localhost`. Looks at the kernel's
 * list and connects to nothing.
 */
export async function isMachinePort(port: number): Promise<boolean> {
  const lists = await Promise.all(
    // Expected: a machine without one of the families.
    ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "latin1").catch(() => "")),
  );
  const isListening = lists.some((list) => list.split("\n").some((row) => listensOn(row, port)));
  return isListening && !(await isServerPort(port));
}

/** A row has a number, the local and the remote address with their ports in hexadecimal, and the state. */
function listensOn(row: string, port: number): boolean {
  const [, local = "", , state] = row.trim().split(/\s+/);
  const [address = "", hexadecimal = ""] = local.split(":");
  return state === LISTENING && LOCAL_ADDRESSES.has(address) && Number.parseInt(hexadecimal, 16) === port;
}
