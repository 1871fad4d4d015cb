import {
  type Action,
  describePermission,
  grantKeys,
  joinPermissions,
  type Permission,
  type SandboxPolicy,
} from "@flint/protocol";
import type { Denial } from "../ports/index.ts";

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
export function rerunPermission({ policy, denials }: StoppedCommand): Permission | undefined {
  // Only a policy that can be widened: a thread that reads is meant to stay so.
  if (policy.type !== "workspaceWrite" || denials.length === 0) return undefined;
  if (denials.some(({ needs }) => needs === undefined)) return undefined;
  return joinPermissions(denials.flatMap(({ needs }) => needs ?? []));
}

/** The request to run a stopped command again with what it needs. It says that the command has run already. */
export function rerunAction(stopped: StoppedCommand, needs: Permission): Action {
  const { itemId, command, cwd, ranMs, denials } = stopped;
  const evidence = denials.map((denial) => denial.evidence);
  const seconds = ranMs < 950 ? "less than a second" : `${Math.round(ranMs / 1000)} s`;
  const reason = `${evidence.join(" ")} Run it again and let it ${describePermission(needs)}? It already ran for ${seconds} and may have done part of its work.`;
  return { kind: "command", itemId, command, cwd, needs, reason, after: { itemId, ranMs, evidence } };
}

/** Remembers which actions were offered to run again with what they need, so that a thread offers the same only once. */
export class RerunOffers {
  readonly #offered = new Set<string>();

  /** Reports whether the user may be asked about an action: always if it has not run before, and once if it has. */
  admit(action: Action): boolean {
    if (action.after === undefined) return true;
    const key = JSON.stringify(grantKeys(action));
    const isFirst = !this.#offered.has(key);
    this.#offered.add(key);
    return isFirst;
  }
}
