import { dirname } from "node:path";
import { objectOf } from "../json.ts";
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

/**
 * The attachments that only say something. Of others, Claude obeys some when it resumes: it runs a deferred call, or goes on
 * with a goal.
 */
const SAYING: ReadonlySet<unknown> = new Set([
  ...["file", "compact_file_reference", "pdf_reference", "already_read_file", "directory", "mcp_resource"],
  ...["edited_text_file", "edited_image_file", "selected_lines_in_ide", "selected_lines_in_diff"],
  ...["opened_file_in_ide", "diagnostics", "queued_command", "agent_mention", "output_style", "date_change"],
  ...["todo_reminder", "task_reminder", "task_status", "critical_system_reminder", "structured_output"],
  ...["plan_mode", "plan_mode_reentry", "plan_mode_exit", "plan_file_reference"],
  ...["invoked_skills", "skill_listing", "dynamic_skill", "agent_listing_delta", "deferred_tools_delta"],
  ...["mcp_instructions_delta", "nested_memory", "relevant_memories"],
  ...["hook_success", "hook_additional_context", "hook_blocking_error", "hook_non_blocking_error"],
  ...["hook_error_during_execution", "hook_cancelled", "hook_system_message", "hook_stopped_continuation"],
  "async_hook_response",
]);

/** Says nothing, in place of another: later lines refer to the line that it is in. */
const SILENT = { type: "command_permissions", allowedTools: [] };

/** The names of plans are parts of paths. */
const PLAN = /^[A-Za-z0-9-]{1,200}$/;

/** The sessions of Claude Code 2.1, by folder of the workspace. */
export const CLAUDE_TRANSCRIPTS: Transcripts = {
  folder: "projects",
  depth: 1,
  name: /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl$/,
  published(lines, claim) {
    if (!isClaimed(lines, claim)) return undefined;
    const said = lines.filter(({ type }) => CONVERSATION.has(type));
    return said.map((line) => lineWithModes(ownLine(line, claim), MODES));
  },
};

function isClaimed(
  lines: readonly TranscriptLine[],
  { id, path, cwd, isContinued }: TranscriptClaim,
): boolean {
  if (isContinued) return true;
  const isOwn = lines.some(({ sessionId }) => sessionId === id);
  return isOwn && isFolderOf(dirname(path), cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
}

/** A line that leads Claude to no other session, folder or plan, and that it does not obey. */
function ownLine(line: TranscriptLine, { id, cwd }: TranscriptClaim): TranscriptLine {
  const { slug, ...rest } = line;
  return {
    ...rest,
    ...("sessionId" in line && { sessionId: id }),
    ...("cwd" in line && { cwd }),
    ...(typeof slug === "string" && PLAN.test(slug) && { slug }),
    ...("attachment" in line && { attachment: saidBy(line.attachment) }),
    ...("message" in line && { message: withoutSchedules(line.message) }),
  };
}

function saidBy(attachment: unknown): unknown {
  return SAYING.has(objectOf(attachment).type) ? attachment : SILENT;
}

/** Claude schedules again what a session has scheduled: prompts that the user does not enter. */
function withoutSchedules(message: unknown): unknown {
  const { content } = objectOf(message);
  if (!Array.isArray(content)) return message;
  const blocks = content.map((block: unknown) => {
    const about = objectOf(block);
    return about.name === "CronCreate" ? { ...about, input: {} } : block;
  });
  return { ...objectOf(message), content: blocks };
}

/** Claude cuts off names that are longer, and adds a digest. */
const NAME_LENGTH = 200;

function isFolderOf(folder: string, name: string): boolean {
  if (name.length <= NAME_LENGTH) return folder === name;
  return folder.slice(0, NAME_LENGTH) === name.slice(0, NAME_LENGTH);
}
