import { access, constants, readFile, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Denial, EndedCommand, RefusedConnection } from "@flint/core/ports";
import { type ConfinedPolicy, describeRefusedConnection, formatEndpoint, isPathIn } from "@flint/protocol";
import type { RefusedHost } from "../../network/connection-log.ts";
import { maskedFolders } from "../mechanisms/confinement.ts";
import { writeProblem } from "../paths/writable-paths.ts";
import { isServerPort } from "../sockets.ts";
import { denialEvidence } from "./evidence.ts";

/** A confined command that has ended, and what is known about its sandbox. */
export interface EndedConfinedCommand extends Omit<EndedCommand, "scope"> {
  readonly policy: ConfinedPolicy;
  /** True if it had a network of its own, in which single hosts can be opened. */
  readonly hasOwnNetwork?: boolean;
  /** The user's home folder, which is never made writable as a whole. */
  readonly home: string;
  /** Flint's own files and folders, which no permission makes writable. */
  readonly locked: readonly string[];
}

/** A refused host as a connection: only one that waited in vain may be offered, the others were decided about. */
export function refusedConnection({ host, port, code, reason }: RefusedHost): RefusedConnection {
  return { host, port, reason, isUnanswered: code === "too-many-questions" };
}

const MOST_DENIALS = 5;

const NO_DIRECT_NETWORK =
  "The sandbox has no direct network: only what goes through the proxy in HTTPS_PROXY reaches allowed hosts. DNS, UDP and programs that ignore the proxy do not.";

/**
 * Returns what the sandbox denied to a command. Claims in its output are checked against the machine before
 * they count.
 */
export async function denialsOf(command: EndedConfinedCommand, canWrite = isWritable): Promise<Denial[]> {
  const { exitCode, output, policy, refused } = command;
  const seen = denialEvidence(output, exitCode);
  const hasNetwork = policy.type === "workspaceWrite" && policy.networkAccess === true;
  const isDirect = seen.triedDirectly && !hasNetwork && refused.length === 0;
  const paths = await Promise.all(
    seen.readOnlyPaths.map(async (path) => {
      const denials = await writeDenial(command, path, canWrite);
      return seen.skippedByGit.includes(path) ? denials.map(skippedFile) : denials;
    }),
  );
  const ports = command.hasOwnNetwork === true && !hasNetwork ? seen.localPorts : [];
  const isServed = await Promise.all(ports.map(isMachinePort));
  const found: Denial[] = [
    ...refused.map(connectionDenial),
    ...ports.filter((_, at) => isServed[at]).map(portDenial),
    ...paths.flat(),
    ...(isDirect ? [{ needs: { network: "all" as const }, evidence: NO_DIRECT_NETWORK }] : []),
  ];
  // Only a guess, which is worth saying if there is nothing better.
  if (found.length === 0 && seen.hint !== undefined) found.push({ evidence: seen.hint });
  const distinct = new Map(found.map((denial) => [denial.evidence, denial]));
  return [...distinct.values()].slice(0, MOST_DENIALS);
}

function connectionDenial(connection: RefusedConnection): Denial {
  const host = formatEndpoint(connection);
  const evidence = describeRefusedConnection(connection);
  return connection.isUnanswered === true
    ? { needs: { network: { hosts: [host] } }, evidence }
    : { evidence };
}

/** Git has moved on: committing the file would take back what it did not write. */
function skippedFile({ evidence, ...denial }: Denial): Denial {
  return {
    ...denial,
    evidence: `${evidence} It is not as in the commit that git has checked out, so do not commit it.`,
  };
}

/** Inside, `localhost` is the sandbox itself, and nothing of the machine answers. */
function portDenial(port: number): Denial {
  const evidence = `In the sandbox, localhost is not your machine, on which a program listens on port ${port}.`;
  return { needs: { network: { hosts: [`localhost:${port}`] } }, evidence };
}

/** None unless the user could write there outside of the sandbox. */
async function writeDenial(
  command: EndedConfinedCommand,
  printed: string,
  canWrite: typeof isWritable,
): Promise<Denial[]> {
  const { cwd, workspace, policy } = command;
  const path = resolve(cwd, printed);
  const target = await nearest(path);
  if (!(await canWrite(target))) return [];
  const listed = policy.type === "readOnly" ? [] : [workspace, ...(policy.writableRoots ?? [])];
  const roots = await Promise.all(listed.map(nearest));
  if (roots.some((root) => isPathIn(target, root)))
    return [{ evidence: `The sandbox keeps ${path} from being changed, because its name is protected.` }];
  if ((await maskedFolders()).some((mask) => isPathIn(target, mask))) return [];
  const evidence = `The sandbox does not let commands write ${path}.`;
  return (await isGrantable(target, command)) ? [{ needs: { write: [target] }, evidence }] : [{ evidence }];
}

/**
 * Reports whether a permission to write there would neither be too wide nor allow changes to what runs
 * outside of the sandbox.
 */
async function isGrantable(
  target: string,
  { workspace, home, locked }: EndedConfinedCommand,
): Promise<boolean> {
  const isTooWide = [workspace, ...locked].some((kept) => isPathIn(kept, target));
  const isLocked = locked.some((kept) => isPathIn(target, kept));
  return !isTooWide && !isLocked && (await writeProblem(target, home)) === undefined;
}

/** Reports whether the user may write something outside of the sandbox. */
function isWritable(path: string): Promise<boolean> {
  return access(path, constants.W_OK).then(
    () => true,
    () => false,
  );
}

/** The real path of what is there, or of the nearest folder above it. */
async function nearest(path: string): Promise<string> {
  const found = await realpath(path).catch(() => undefined);
  if (found !== undefined) return found;
  const parent = dirname(path);
  return parent === path ? path : nearest(parent);
}

/** The state of a socket that listens, as the kernel lists it. */
const LISTENING = "0A";

/** Addresses at which a program on this machine answers `localhost`: any address, and loopback, of both families. */
const LOCAL_ADDRESSES: ReadonlySet<string> = new Set([
  ...["00000000", "0100007F"],
  ...["0".repeat(32), `${"0".repeat(24)}01000000`, "0000000000000000FFFF00000100007F"],
]);

/**
 * Reports whether a program of this machine, other than a Flint server, listens on a port of `localhost`.
 * Looks at the kernel's list and connects to nothing.
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
