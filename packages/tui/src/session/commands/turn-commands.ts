import type { SessionContext } from "../context.ts";

/** Reviews uncommitted changes, changes since a branch, a commit, or what the user says. */
export function startReview(session: SessionContext, what: string): void {
  session.run(async () => {
    const threadId = await session.ensureThread();
    await session.client.call("review/start", { threadId, target: targetOf(what) });
  });
}

function targetOf(what: string) {
  const [first = "", second] = what.split(/\s+/);
  if (what === "") return { type: "uncommittedChanges" as const };
  if (first === "branch" && second !== undefined) return { type: "baseBranch" as const, branch: second };
  if (/^[0-9a-f]{7,40}$/.test(what)) return { type: "commit" as const, sha: what };
  return { type: "custom" as const, instructions: what };
}

/** Summarises the context to free space. */
export function compactContext(session: SessionContext): void {
  session.run(async () => {
    const threadId = await session.ensureThread();
    await session.client.call("thread/compact/start", { threadId });
  });
}
