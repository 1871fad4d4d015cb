import type { OfferedRef } from "@flint/core/ports";
import { shellQuote } from "@flint/core/text";

/** The commands with which the user takes over later what was offered, one per branch, tag or stash entry. */
export function howToTakeOver(refs: readonly OfferedRef[], kept: (name: string) => string): string[] {
  return refs.flatMap((ref) => commandFor(ref, kept).map((words) => inSubmodule(ref, words)));
}

function commandFor({ name, change, commits }: OfferedRef, kept: (name: string) => string): string[] {
  const short = name.replace(/^refs\/(?:heads|tags)\//, "");
  if (name === "refs/stash") return commits.map(({ id }) => `stash store ${id}`);
  if (name === "HEAD") return [`merge ${kept(name)}`];
  if (change === "deleted" || change === "switched" || name.startsWith("refs/remotes/")) return [];
  if (name.startsWith("refs/tags/"))
    return [`tag ${change === "created" ? "" : "-f "}${short} ${kept(name)}`];
  return [change === "created" ? `branch ${short} ${kept(name)}` : `merge ${kept(name)}`];
}

function inSubmodule({ submodule }: OfferedRef, words: string): string {
  return submodule === undefined ? `git ${words}` : `git -C ${shellQuote(submodule)} ${words}`;
}
