import type { ToolResult } from "@flint/agent/model";
import { previewOf } from "@flint/protocol";

/** The tags of what agents put around the prompt of their user, or in its place. */
const TAGS = [
  ...["system-reminder", "command-name", "command-message", "command-args", "local-command-stdout"],
  ...["local-command-stderr", "local-command-caveat", "environment_context", "user_instructions"],
  ...["environment_details", "permissions instructions", "collaboration_mode", "skills_instructions"],
  "INSTRUCTIONS",
];
const AGENTS_MD = /^# AGENTS\.md instructions\b[^\n]*\n*/;
const INTERRUPTED =
  /^\s*(?:\[Request interrupted by user(?: for tool use)?\]|<turn_aborted>[\s\S]*?(?:<\/turn_aborted>|$))/;

/** How Claude Code passes on what its user says while it works. */
const QUEUED =
  /^(?:<system-reminder>)?\s*The user sent a new message while you were working:\n([\s\S]*?)(?:\n+IMPORTANT: After completing your current task[\s\S]*|\s*<\/system-reminder>\s*)?$/;

/** The prompt of the user in what an agent sends; empty if there is none. */
export function promptIn(text: string): string {
  return (queuedPrompt(text) ?? withoutTags(text.replace(INTERRUPTED, "")).replace(AGENTS_MD, "")).trim();
}

/** What the user said while the agent worked, if the text passes that on. */
export function queuedPrompt(text: string): string | undefined {
  return QUEUED.exec(text)?.[1];
}

/** Whether the text begins with a note that the user interrupted the work. */
export function isInterruption(text: string): boolean {
  return INTERRUPTED.test(text);
}

/** A passage without an end is left as it is. */
function withoutTags(text: string): string {
  return TAGS.reduce((rest, tag) => {
    const [first = "", ...passages] = rest.split(`<${tag}>`);
    return passages.reduce((kept, passage) => {
      const end = passage.indexOf(`</${tag}>`);
      return end === -1 ? `${kept}<${tag}>${passage}` : kept + passage.slice(end + tag.length + 3);
    }, first);
  }, text);
}

/** The agent's working directory, if it is mentioned anywhere. */
export function workingDirectory(texts: readonly string[]): string | undefined {
  const found = texts.flatMap(
    (text) => /(?:working directory|<cwd>|\bcwd\b)[^\n/]{0,20}(\/[^\s<`"']+)/i.exec(text)?.[1] ?? [],
  );
  return found[0]?.replace(/[.,;)]+$/, "");
}

/** Whether every command must ask to run outside of the agent's own sandbox; Codex mentions the parameter in any case. */
export function escalatesCommands(texts: readonly string[]): boolean {
  return texts.some((text) => /\bevery command with sandbox_permissions\b/i.test(text));
}

/** Whether an agent only wants a title for its conversation, which needs no work and no step of a script. */
export function isTitleRequest(system: string): boolean {
  return /\btitle\b/i.test(system.slice(0, 4000)) && !/\bcoding agent\b/i.test(system.slice(0, 400));
}

/** A short title for a conversation that begins with this prompt. */
export function titleFor(prompt: string): string {
  const plain = prompt.replaceAll(/<[^>]+>/g, " ").replaceAll(/[`"'*#]/g, "");
  const words = previewOf(plain.trim()).split(/\s+/).slice(0, 7);
  const title = words.join(" ").replace(/[.:;,]+$/, "");
  return title === "" ? "A conversation" : `${title.charAt(0).toUpperCase()}${title.slice(1)}`;
}

const DECLINED =
  /doesn't want to (?:proceed|take this action)|rejected by (?:the )?user|user (?:rejected|declined|denied)|permission .{0,40}denied by/i;
const FAILED =
  /^\s*(?:error\b|<tool_use_error>|script (?:failed|error)|execution error|apply_patch verification failed)/i;

/** Reads the output of an agent's tool, with its status and exit code where the text has them. */
export function toolResult(output: string, isError: boolean): ToolResult {
  const { text, exitCode } = splitOutput(withoutTags(output).replace(/\n+$/, "\n"));
  if ((isError || exitCode === undefined) && DECLINED.test(output.slice(0, 500)))
    return { status: "declined", text: "" };
  const failed = isError || (exitCode === undefined ? FAILED.test(output) : exitCode !== 0);
  return { status: failed ? "failed" : "done", text, ...(exitCode === undefined ? {} : { exitCode }) };
}

/** Agents put the exit code in a header before the output, or both in JSON. */
function splitOutput(output: string): { readonly text: string; readonly exitCode?: number } {
  const json = /^\s*\{"output":/.test(output) ? jsonOutput(output) : undefined;
  if (json !== undefined) return json;
  const [, header = "", body] = /^([\s\S]{0,600}?)(?:^|\n)Output:\n([\s\S]*)$/.exec(output) ?? [];
  const firstLine = /^.*/.exec(output)?.[0] ?? "";
  const code = /(?:[Ee]xit code:?|exited with code) (-?\d+)/.exec(
    body === undefined ? firstLine : header,
  )?.[1];
  // A program that ran a command has a header of its own before that of the command.
  if (code === undefined && body !== undefined && /^Exit code:/.test(body)) return splitOutput(body);
  if (code === undefined) return { text: body ?? output };
  return { text: body ?? output.slice(firstLine.length).replace(/^\n/, ""), exitCode: Number(code) };
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
