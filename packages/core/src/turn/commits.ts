import { type Action, asFlintError, type Decision, type GitMode, type Item, mintId } from "@flint/protocol";
import type { CommitOffer, DriverEvent, OfferedRef } from "../ports/index.ts";

/** Dependencies of taking over commits on their turn. */
export interface TurnCommitsOptions {
  readonly mode: GitMode;
  /** Looks at what was committed in the sandbox. */
  commits(): Promise<CommitOffer | undefined>;
  approve(action: Action): Promise<Decision>;
  emit(event: DriverEvent): void;
}

/**
 * Offers the commits that the agent of a turn made in its sandbox, and takes them over into the user's repository if that
 * is allowed. What is declined is kept for later, and offered again only together with more. Never rejects.
 */
export async function takeOverCommits({ mode, commits, approve, emit }: TurnCommitsOptions): Promise<void> {
  if (mode === "off") return;
  const id = mintId();
  const item: Item<"toolCall"> = { type: "toolCall", id, tool: "git", status: "inProgress" };
  try {
    const offer = await commits();
    if (offer === undefined) return;
    const title = describeOffer(offer);
    const { refs, diff, protectedPaths } = offer;
    const given = { refs, diff, ...(protectedPaths.length === 0 ? {} : { protectedPaths }) };
    const shown = { ...item, title, arguments: given };
    emit({ type: "item/started", item: shown });
    emit({ type: "item/completed", item: await decided(shown, offer, mode, approve) });
  } catch (error) {
    // Git refuses what would harm the repository, and says why.
    const failed = { ...item, title: "Apply commits", status: "failed" as const };
    emit({ type: "item/completed", item: { ...failed, error: asFlintError(error).message } });
  }
}

async function decided(
  item: Item<"toolCall">,
  offer: CommitOffer,
  mode: GitMode,
  approve: TurnCommitsOptions["approve"],
): Promise<Item<"toolCall">> {
  if (offer.blocked !== undefined) {
    const result = `Not applied: ${offer.blocked}. You will be asked again afterwards.`;
    return { ...item, status: "completed", result };
  }
  const warning = describeProtected(offer);
  const isHarmless = warning === undefined && !losesCommits(offer);
  if ((mode === "auto" && isHarmless) || (await isApproved(approve, item, warning)))
    return accepted(item, offer);
  const result = [warning ?? [], await offer.decline()].flat().join("\n");
  return { ...item, status: "declined", result };
}

/** Reports whether the user's branches or tags would lose commits, which is asked about in every mode. */
function losesCommits({ refs }: CommitOffer): boolean {
  const isOwn = ({ name }: OfferedRef) => !name.startsWith("refs/remotes/");
  return refs.some((ref) => isOwn(ref) && (ref.change === "deleted" || ref.change === "forced"));
}

async function isApproved(
  approve: TurnCommitsOptions["approve"],
  { id: itemId, title = "", arguments: given }: Item<"toolCall">,
  warning: string | undefined,
): Promise<boolean> {
  const needs = { git: true };
  const reason = [`${title}?`, warning ?? []].flat().join(" ");
  const action: Action = { kind: "tool", itemId, tool: "git", arguments: given, needs, reason };
  return (await approve(action)).outcome === "allow";
}

/** Names the files that the sandbox would not have let the agent write, and a commit brings all the same. */
function describeProtected({ protectedPaths }: CommitOffer): string | undefined {
  if (protectedPaths.length === 0) return undefined;
  const shown = protectedPaths.slice(0, MAX_PATHS).map((path) => path.replace(/\p{C}/gu, " "));
  const more = protectedPaths.length > shown.length ? [`${protectedPaths.length - shown.length} more`] : [];
  return `This changes protected files, which tools run or obey: ${[...shown, ...more].join(", ")}.`;
}

async function accepted(item: Item<"toolCall">, offer: CommitOffer): Promise<Item<"toolCall">> {
  const { refused, notes } = await offer.accept();
  if (refused === undefined) return { ...item, status: "completed", result: notes.join(" ") };
  const error = [`Nothing was changed: ${refused}.`, ...notes].join("\n");
  return { ...item, status: "failed", error };
}

/** Describes an offer in one line: "Apply 2 commits on main (fix the parser; add zod)". */
export function describeOffer({ refs, blocked }: Pick<CommitOffer, "refs" | "blocked">): string {
  if (blocked !== undefined) return "Apply commits later";
  const shown = refs.slice(0, MAX_REFS).map(describeRef);
  const more = refs.length > shown.length ? [`${refs.length - shown.length} more`] : [];
  return `Apply ${[...shown, ...more].join(", ")}`;
}

const MAX_TITLES = 5;
const MAX_REFS = 10;
const MAX_PATHS = 10;

function describeRef(ref: OfferedRef): string {
  const what = describeChange(ref);
  return ref.submodule === undefined ? what : `${what} in ${ref.submodule}`;
}

function describeChange({ name, total, change, commits }: OfferedRef): string {
  const short = name.replace(/^refs\/(?:heads|tags|remotes)\//, "").replace(/^refs\//, "");
  if (change === "deleted") return `the deletion of ${short}`;
  if (change === "switched" && name !== "HEAD") return `the switch to ${short}`;
  if (total === 0) return `${change === "created" ? "the new" : "the moved"} ${short}`;
  const titles = commits.slice(0, MAX_TITLES).map(({ title }) => title);
  const more = total > titles.length ? [`${total - titles.length} more`] : [];
  const listed = `(${[...titles, ...more].join("; ")})`;
  if (name === "refs/stash") return `${total} stash ${total === 1 ? "entry" : "entries"} ${listed}`;
  const counted = `${total} ${total === 1 ? "commit" : "commits"}`;
  if (change === "forced") return `${counted} on ${short}, which loses commits it had, ${listed}`;
  return `${counted} on ${name === "HEAD" ? "a detached HEAD" : short} ${listed}`;
}
