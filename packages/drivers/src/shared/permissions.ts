import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { BrokeredCommand, CommandBroker, TurnContext } from "@flint/core/ports";
import { isPathIn, isUnconfined, type Permission, type ThreadSettings } from "@flint/protocol";

/** Needs to run outside of the sandbox; undefined for a thread that has none. */
export function unconfinedNeed({ sandboxPolicy }: ThreadSettings): Permission | undefined {
  return isUnconfined(sandboxPolicy) ? undefined : { unconfined: true };
}

/** Permissions needed for writing some paths. */
export interface WriteNeed {
  /** Undefined if nothing is left to ask about. */
  readonly needs: Permission | undefined;
  /** The reason for each other folder, by name, that no approval opens it. */
  readonly refused: readonly string[];
}

/**
 * Needs to write these paths: the nearest folders that exist, free of links, as far as the sandbox does not let its
 * commands write there anyway.
 */
export async function writeNeed(
  paths: readonly string[],
  { sandboxPolicy, cwd }: ThreadSettings,
  broker: Pick<CommandBroker, "resolveWritable"> | undefined,
): Promise<WriteNeed> {
  if (isUnconfined(sandboxPolicy)) return { needs: undefined, refused: [] };
  const open = sandboxPolicy.type === "workspaceWrite" ? [cwd, ...(sandboxPolicy.writableRoots ?? [])] : [];
  const roots = await Promise.all([...open, TEMPORARY].map(nearestFolder));
  const folders = await Promise.all(paths.map((path) => nearestFolder(resolve(cwd, path))));
  const outside = folders.filter((folder) => !roots.some((root) => isPathIn(folder, root)));
  const requested = [...new Set(outside)].sort();
  // The sandbox alone decides what no approval opens, such as settings, folders of the system and the home folder.
  const found = await Promise.all(requested.map((folder) => broker?.resolveWritable(folder, cwd)));
  const problems = found.map((path) => (path !== undefined && "problem" in path ? path.problem : undefined));
  const refused = problems.filter((problem) => problem !== undefined);
  const write = requested.filter((_, at) => problems[at] === undefined);
  return { needs: write.length === 0 ? undefined : { write }, refused };
}

/** Every sandbox has a private one. */
export const TEMPORARY = "/tmp";

/** A path free of links: of itself if it is a folder that exists, else of the nearest folder around it. */
export async function nearestFolder(path: string): Promise<string> {
  // Expected: it does not exist yet, or is a file.
  const found = await realpath(`${path}/.`).catch(() => undefined);
  return found ?? (dirname(path) === path ? path : nearestFolder(dirname(path)));
}

/**
 * Reports whether a permission goes beyond the network: hosts are opened in the thread's own network, where
 * they are asked about.
 */
export function requiresBroker(needs: Permission | undefined): needs is Permission {
  return needs?.unconfined === true || needs?.network === "all" || (needs?.write ?? []).length > 0;
}

/** The policy of a command that was granted a permission: the sandbox of its thread, wider by exactly that. */
export function sandboxWithPermission(
  { sandboxPolicy, cwd }: ThreadSettings,
  { unconfined, network, write, identities }: Permission,
): Pick<BrokeredCommand, "policy" | "workspace" | "permission"> {
  if (unconfined === true) return { policy: { type: "dangerFullAccess" }, workspace: cwd };
  if (isUnconfined(sandboxPolicy)) return { policy: sandboxPolicy, workspace: cwd };
  const permission = {
    // Other hosts are opened in the network of the thread.
    ...(network === "all" ? { network } : {}),
    ...(write === undefined ? {} : { write }),
    ...(identities === undefined ? {} : { identities }),
  };
  return { policy: sandboxPolicy, workspace: cwd, permission };
}

/** The command line that runs an approved command with what it was granted, once and within the turn. */
export function grantedCommandLine(
  broker: CommandBroker,
  turn: TurnContext,
  needs: Permission,
  command: Pick<BrokeredCommand, "argv" | "cwd" | "signal">,
): string {
  return broker.grant({ ...command, ...sandboxWithPermission(turn.settings, needs) });
}
