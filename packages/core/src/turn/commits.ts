import { type Action, asFlintError, type Decision, type GitMode, type Item, mintId } from "@flint/protocol";
import type { CommitOffer, DriverEvent, OfferedRef } from "../ports/index.ts";

/** What taking over commits needs of its turn. */
export interface TurnCommitsOptions {
  readonly mode: GitMode;
  /** Looks at what was committed in the sandbox. */
  commits(): Promise<CommitOffer | undefined>;
  approve(action: Action): Promise<Decision>;
  emit(event: DriverEvent): void;
}

/**
 * Offers the commits that the agent of a turn made in its sandbox, and takes them over into the user's repository if that
 * is allowed. What is declined stays in the sandbox and is offered again after the next turn. Never rejects.
 */
export async function takeOverCommits({ mode, commits, approve, emit }: TurnCommitsOptions): Promise<void> {
  if (mode === "off") return;
  const id = mintId();
  const item: Item<"toolCall"> = { type: "toolCall", id, tool: "git", status: "inProgress" };
  try {
    const offer = await commits();
    if (offer === undefined) return;
    const title = describeOffer(offer);
    const shown = { ...item, title, arguments: { refs: offer.refs, diff: offer.diff } };
    emit({ type: "item/started", item: shown });
    const allowed = mode === "auto" || (await isApproved(approve, shown));
    const finished = allowed ? await accepted(shown, offer) : { ...shown, status: "declined" as const };
    emit({ type: "item/completed", item: finished });
  } catch (error) {
    // Git refuses what would harm the repository, and says why.
    const failed = { ...item, title: "Apply commits", status: "failed" as const };
    emit({ type: "item/completed", item: { ...failed, error: asFlintError(error).message } });
  }
}

async function isApproved(
  approve: TurnCommitsOptions["approve"],
  { id: itemId, title = "", arguments: given }: Item<"toolCall">,
): Promise<boolean> {
  const needs = { git: true };
  const action: Action = { kind: "tool", itemId, tool: "git", arguments: given, needs, reason: `${title}?` };
  return (await approve(action)).outcome === "allow";
}

async function accepted(item: Item<"toolCall">, offer: CommitOffer): Promise<Item<"toolCall">> {
  const { refused, notes } = await offer.accept();
  if (refused === undefined) return { ...item, status: "completed", result: notes.join(" ") };
  const error = `Nothing was changed: ${refused}. The commits are kept under refs/flint/in.`;
  return { ...item, status: "failed", error };
}

/** Describes an offer in one line: "Apply 2 commits on main (fix the parser; add zod)". */
export function describeOffer({ refs }: Pick<CommitOffer, "refs">): string {
  return `Apply ${refs.map(describeRef).join(", ")}`;
}

const MAX_TITLES = 5;

function describeRef({ name, total, change, commits }: OfferedRef): string {
  const short = name.replace(/^refs\/(?:heads|tags|remotes)\//, "").replace(/^refs\//, "");
  if (change === "deleted") return `the deletion of ${short}`;
  if (total === 0) return `${change === "created" ? "the new" : "the moved"} ${short}`;
  const titles = commits.slice(0, MAX_TITLES).map(({ title }) => title);
  const more = total > titles.length ? [`${total - titles.length} more`] : [];
  return `${total} ${total === 1 ? "commit" : "commits"} on ${short} (${[...titles, ...more].join("; ")})`;
}
