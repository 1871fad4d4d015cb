import type { Action, Grant, Rule } from "@flint/protocol";
import { type Actor, coveringGrants } from "./grants.ts";

/** An action that nothing covers, and the rules that covered it before their folder was replaced. */
export interface UncoveredAction {
  readonly action: Action;
  readonly actor: Actor;
  readonly grants: readonly Grant[];
  readonly replaced: readonly Rule[];
  readonly now: number;
}

/** Explains, once for each rule, that it does not apply because another folder has taken the place of its folder. */
export class ReplacedFolderNotices {
  readonly #explained = new Set<string>();

  /** The explanation for an action; undefined if no such rule would cover it, or if that was explained before. */
  take({ action, actor, grants, replaced, now }: UncoveredAction): string | undefined {
    if (replaced.length === 0) return undefined;
    const covering = coveringGrants(action, actor, [...grants, ...replaced], now) ?? [];
    const missed = replaced.filter((rule) => covering.includes(rule) && !this.#explained.has(rule.id));
    if (missed.length === 0) return undefined;
    for (const { id } of missed) this.#explained.add(id);
    return `A rule for this was made in another folder that was at ${actor.project} before, so it does not apply here.`;
  }
}
