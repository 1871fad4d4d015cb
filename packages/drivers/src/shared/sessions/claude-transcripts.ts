import { dirname } from "node:path";
import type { TranscriptClaim, TranscriptLine, Transcripts } from "./transcripts.ts";
import { lineWithModes } from "./transcripts.ts";

/**
 * The lines of the conversation. Others are left out, because Claude obeys some of them when it resumes: they choose a mode,
 * an agent or a worktree, or name files that a rewind restores or deletes (2.1.197).
 */
const CONVERSATION: ReadonlySet<unknown> = new Set([
  ...["user", "assistant", "system", "attachment", "progress", "summary", "ai-title", "custom-title"],
  "last-prompt",
]);

const MODES = new Map([["permissionmode", "default"]]);

/** The sessions of Claude Code 2.1, by folder of the workspace. */
export const CLAUDE_TRANSCRIPTS: Transcripts = {
  folder: "projects",
  depth: 1,
  name: /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/,
  published(lines, claim) {
    if (!isClaimed(lines, claim)) return undefined;
    return lines.filter(({ type }) => CONVERSATION.has(type)).map((line) => lineWithModes(line, MODES));
  },
};

function isClaimed(lines: readonly TranscriptLine[], { id, path, cwd }: TranscriptClaim): boolean {
  if (cwd === undefined) return true;
  const isOwn = lines.some(({ sessionId }) => sessionId === id);
  return isOwn && isFolderOf(dirname(path), cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
}

/** Claude cuts off names that are longer, and adds a digest. */
const NAME_LENGTH = 200;

function isFolderOf(folder: string, name: string): boolean {
  if (name.length <= NAME_LENGTH) return folder === name;
  return folder.slice(0, NAME_LENGTH) === name.slice(0, NAME_LENGTH);
}
