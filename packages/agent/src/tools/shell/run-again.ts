import type { Denial } from "@flint/core/ports";
import { type Action, describePermission, type Permission, type SandboxPolicy } from "@flint/protocol";

/** A command that its sandbox stopped. */
export interface StoppedCommand {
  readonly itemId: string;
  readonly command: string;
  readonly cwd: string;
  readonly policy: SandboxPolicy;
  readonly ranMs: number;
  readonly denials: readonly Denial[];
}

/** Everything that a stopped command needs, if a permission can give it that; undefined otherwise. */
export function neededBy({ policy, denials }: StoppedCommand): Permission | undefined {
  // Only a policy that can be widened: a thread that reads is meant to stay so.
  if (policy.type !== "workspaceWrite" || denials.length === 0) return undefined;
  if (denials.some(({ needs }) => needs === undefined)) return undefined;
  const all = denials.flatMap(({ needs }) => needs ?? []);
  const write = [...new Set(all.flatMap((needs) => needs.write ?? []))];
  const hosts = all.flatMap(({ network }) => (typeof network === "object" ? network.hosts : []));
  const isAll = all.some(({ network }) => network === "all");
  return {
    ...(isAll
      ? { network: "all" as const }
      : hosts.length > 0
        ? { network: { hosts: [...new Set(hosts)] } }
        : {}),
    ...(write.length > 0 ? { write } : {}),
  };
}

/** The request to run a stopped command again with what it needs. It says that the command has run already. */
export function runAgainAction(stopped: StoppedCommand, needs: Permission): Action {
  const { itemId, command, cwd, ranMs, denials } = stopped;
  const evidence = denials.map((denial) => denial.evidence);
  const seconds = ranMs < 950 ? "less than a second" : `${Math.round(ranMs / 1000)} s`;
  const reason = `${evidence.join(" ")} Run it again and let it ${describePermission(needs)}? It already ran for ${seconds} and may have done part of its work.`;
  return { kind: "command", itemId, command, cwd, needs, reason, after: { itemId, ranMs, evidence } };
}

/** What a command may do that was given more, for this time only. */
export function combined(first: Permission | undefined, more: Permission): Permission {
  const hosts = [first, more].flatMap((each) =>
    typeof each?.network === "object" ? each.network.hosts : [],
  );
  const write = [...new Set([...(first?.write ?? []), ...(more.write ?? [])])];
  const isAll = first?.network === "all" || more.network === "all";
  return {
    ...(isAll
      ? { network: "all" as const }
      : hosts.length > 0
        ? { network: { hosts: [...new Set(hosts)] } }
        : {}),
    ...(write.length > 0 ? { write } : {}),
  };
}
