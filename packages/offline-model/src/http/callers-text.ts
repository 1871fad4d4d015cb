import type { ToolResult } from "@flint/agent/model";
import { previewOf } from "@flint/protocol";

/** What agents put around the words of their user, or in the place of them. */
const WRAPPINGS = [
  ...["system-reminder", "command-name", "command-message", "command-args", "local-command-stdout"],
  ...["local-command-stderr", "local-command-caveat", "environment_context", "user_instructions"],
  ...["environment_details", "permissions instructions", "collaboration_mode", "skills_instructions"],
  "INSTRUCTIONS",
];
const INSTRUCTIONS = /^# AGENTS\.md instructions\b[^\n]*\n*/;
const CUT_SHORT =
  /^\s*(?:\[Request interrupted by user(?: for tool use)?\]|<turn_aborted>[\s\S]*?(?:<\/turn_aborted>|$))/;

/** How Claude Code hands over what its user says while it works, as a note of its own. */
const MEANWHILE =
  /^(?:<system-reminder>)?\s*The user sent a new message while you were working:\n([\s\S]*?)(?:\n+IMPORTANT: After completing your current task[\s\S]*|\s*<\/system-reminder>\s*)?$/;

const DIRECTORY = /(?:working directory|<cwd>|\bcwd\b)[^\n/]{0,20}(\/[^\s<`"']+)/i;

/** The words of the user themselves; nothing if there are none among what an agent sent in their place. */
export function usersWords(text: string): string {
  return (saidMeanwhile(text) ?? unwrapped(text.replace(CUT_SHORT, "")).replace(INSTRUCTIONS, "")).trim();
}

/** What the user said while the caller worked, if that is what it tells here; callers may tell it as if it was no word of the user. */
export function saidMeanwhile(text: string): string | undefined {
  return MEANWHILE.exec(text)?.[1];
}

/** Without the passages that agents add. One that has no end is left as it is. */
function unwrapped(text: string): string {
  return WRAPPINGS.reduce(withoutPassages, text);
}

function withoutPassages(text: string, name: string): string {
  const [first = "", ...rest] = text.split(`<${name}>`);
  const end = `</${name}>`;
  return rest.reduce((kept, passage) => {
    const at = passage.indexOf(end);
    return at === -1 ? `${kept}<${name}>${passage}` : kept + passage.slice(at + end.length);
  }, first);
}

/** Whether this begins with a note that the user stopped the work. */
export function saysStopped(text: string): boolean {
  return CUT_SHORT.test(text);
}

/** Where the caller works, if it says so anywhere. */
export function workingDirectory(texts: readonly string[]): string | undefined {
  for (const text of texts) {
    const [, found] = DIRECTORY.exec(text) ?? [];
    if (found !== undefined) return found.replace(/[.,;)]+$/, "");
  }
  return undefined;
}

/** Codex itself tells of `sandbox_permissions` in any case; only this says that no command runs without them. */
const EVERY_COMMAND = /\bevery command with sandbox_permissions\b/i;

/** Whether the caller wants each command to be asked for with the right to run outside of its own sandbox. */
export function wantsEscalation(texts: readonly string[]): boolean {
  return texts.some((text) => EVERY_COMMAND.test(text));
}

/** Whether an agent only wants a name for the conversation, which needs no work and no step of a script. */
export function wantsTitle(system: string, toolCount: number): boolean {
  return (
    toolCount === 0 &&
    /\btitle\b/i.test(system.slice(0, 4000)) &&
    !/\bcoding agent\b/i.test(system.slice(0, 400))
  );
}

/** A short name for a conversation that begins with these words. */
export function titleFor(text: string): string {
  const words = text
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/[`"'*#]/g, "")
    .trim();
  const preview = previewOf(words)
    .split(/\s+/)
    .slice(0, 7)
    .join(" ")
    .replace(/[.:;,]+$/, "");
  return preview === "" ? "A conversation" : `${preview.charAt(0).toUpperCase()}${preview.slice(1)}`;
}

const DECLINED =
  /doesn't want to (?:proceed|take this action)|rejected by (?:the )?user|user (?:rejected|declined|denied)|permission .{0,40}denied by/i;

const FAILED =
  /^\s*(?:error\b|<tool_use_error>|script (?:failed|error)|execution error|apply_patch verification failed)/i;

/** What a tool of the caller said, with how it ended where the text tells. */
export function resultOf(said: string, isError: boolean): ToolResult {
  const { text, exitCode } = outputOf(unwrapped(said).replace(/\n+$/, "\n"));
  if ((isError || exitCode === undefined) && DECLINED.test(said.slice(0, 500)))
    return { status: "declined", text: "" };
  const failed = isError || (exitCode === undefined ? FAILED.test(said) : exitCode !== 0);
  const status = failed ? "failed" : "done";
  return { status, text, ...(exitCode === undefined ? {} : { exitCode }) };
}

/** Agents tell the exit code in words before the output, or in JSON around it. */
function outputOf(said: string): { readonly text: string; readonly exitCode?: number } {
  const [, whole] = /^\s*(\{"output":[\s\S]*\})\s*$/.exec(said) ?? [];
  const wrapped = whole === undefined ? undefined : jsonOutput(whole);
  if (wrapped !== undefined) return wrapped;
  const [, head = "", body] = /^([\s\S]{0,600}?)(?:^|\n)Output:\n([\s\S]*)$/.exec(said) ?? [];
  const [, code] =
    /(?:[Ee]xit code:?|exited with code) (-?\d+)/.exec(body === undefined ? firstLine(said) : head) ?? [];
  // A program that ran a command tells of itself first, and then of the command.
  if (code === undefined && body !== undefined && /^Exit code:/.test(body)) return outputOf(body);
  if (code === undefined) return { text: body ?? said };
  return { text: body ?? said.slice(firstLine(said).length).replace(/^\n/, ""), exitCode: Number(code) };
}

function firstLine(text: string): string {
  return /^.*/.exec(text)?.[0] ?? "";
}

function jsonOutput(text: string): { readonly text: string; readonly exitCode?: number } | undefined {
  // Expected: output that only looks like JSON.
  try {
    const { output, metadata } = JSON.parse(text);
    if (typeof output !== "string") return undefined;
    const exitCode: unknown = metadata?.exit_code;
    return { text: output, ...(typeof exitCode === "number" ? { exitCode } : {}) };
  } catch {
    return undefined;
  }
}
