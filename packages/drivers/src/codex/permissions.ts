import type { CommandBroker } from "@flint/core/ports";
import {
  hostRuleProblem,
  joinPermissions,
  listOf,
  type Permission,
  stringOf,
  type ThreadSettings,
} from "@flint/protocol";
import { type JsonObject, objectOf } from "../shared/json.ts";
import { writeNeed } from "../shared/permissions.ts";

/** The additional permissions of a request in Flint's terms, and what of them cannot be granted. */
export interface ReadPermissions {
  readonly needs: Permission | undefined;
  /** Folders that are never opened, and entries with patterns or special folders, as text. */
  readonly unsupported: readonly string[];
}

/**
 * Reads Codex's `{network: {enabled}, fileSystem: {read, write, entries}}`. Everything can be read in the sandbox, so only
 * writing and the network are needs.
 */
export async function readPermissions(
  permissions: unknown,
  settings: ThreadSettings,
  broker: Pick<CommandBroker, "resolveWritable"> | undefined,
): Promise<ReadPermissions> {
  const { network, fileSystem } = objectOf(permissions);
  const { write: asked, entries } = objectOf(fileSystem);
  const writing = listOf(entries)
    .map(objectOf)
    .filter(({ access }) => access === "write");
  const isPlain = ({ path }: JsonObject) => typeof path === "string" || pathIn(path) !== undefined;
  const paths = [
    ...listOf(asked).flatMap((path) => stringOf(path) ?? []),
    ...writing.filter(isPlain).map(({ path }) => pathIn(path) ?? String(path)),
  ];
  const { needs: write, refused } = await writeNeed(paths, settings, broker);
  const needed = { ...(objectOf(network).enabled === true ? { network: "all" as const } : {}), ...write };
  const patterns = writing.filter((entry) => !isPlain(entry)).map(({ path }) => JSON.stringify(path));
  return {
    needs: Object.keys(needed).length === 0 ? undefined : needed,
    unsupported: [...refused, ...patterns],
  };
}

function pathIn(path: unknown): string | undefined {
  const { type, path: inside } = objectOf(path);
  return type === "path" ? stringOf(inside) : undefined;
}

const PORTS: Readonly<Record<string, string>> = { http: ":80", https: ":443" };

/** The host that a command wants to reach; undefined for what is not a host rule, such as an address. */
export function hostNeed({
  host,
  protocol,
}: {
  readonly host: string;
  readonly protocol: string;
}): Permission | undefined {
  const rule = `${host}${PORTS[protocol] ?? ""}`;
  return hostRuleProblem(rule) === undefined ? { network: { hosts: [rule] } } : undefined;
}

/** Permissions that the user granted to all commands of the turn or of the session, beyond the sandbox. */
export class GrantedPermissions {
  #turn: readonly Permission[] = [];
  #session: readonly Permission[] = [];

  add(permission: Permission, scope: "turn" | "session"): void {
    if (scope === "turn") this.#turn = [...this.#turn, permission];
    else this.#session = [...this.#session, permission];
  }

  endTurn(): void {
    this.#turn = [];
  }

  /**
   * Returns the permissions of a command that needs these itself; leaving the sandbox includes everything.
   */
  with(needs: Permission | undefined): Permission | undefined {
    const all = [...this.#session, ...this.#turn, ...(needs === undefined ? [] : [needs])];
    if (all.length === 0 || needs?.unconfined === true) return needs;
    return { ...needs, ...joinPermissions(all) };
  }
}
