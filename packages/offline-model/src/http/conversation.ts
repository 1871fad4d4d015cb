import { INTERRUPTED_NOTE } from "@flint/agent/conversation";
import type { Message, ToolCall, ToolResult } from "@flint/agent/model";
import type { RequestTools } from "./request-tools.ts";

/** Builds the conversation that the offline model sees from the messages of a request, in order. */
export class RequestConversation {
  readonly tools: RequestTools;
  readonly #messages: Message[] = [];
  readonly #calls = new Map<string, ToolCall>();

  constructor(tools: RequestTools) {
    this.tools = tools;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Agents may pass on what their user says while they work as a system message. */
  addSystem(text: string): void {
    if (queuedPrompt(text) !== undefined) this.addUser(text);
    else if (text !== "") this.#messages.push({ role: "system", text });
  }

  /** Work that the user interrupted is not continued. */
  addUser(text: string): void {
    const last = this.#messages.at(-1);
    if (INTERRUPTED.test(text) && last !== undefined && last.role !== "system")
      this.#messages.push(INTERRUPTED_NOTE);
    const prompt = promptIn(text);
    if (prompt !== "") this.#messages.push({ role: "user", text: prompt });
  }

  addAssistant(text: string, ...calls: readonly ToolCall[]): void {
    const last = this.#messages.at(-1);
    // Text and calls of one response are one message, however many pieces it was sent in.
    const before = last?.role === "assistant" ? last : undefined;
    if (before !== undefined) this.#messages.pop();
    this.#messages.push({
      role: "assistant",
      text: [before?.text, text].filter(Boolean).join("\n"),
      calls: [...(before?.calls ?? []), ...calls],
    });
  }

  addCall(callId: string, name: string, input: unknown): void {
    const call = this.tools.fromRequest(callId, name, input);
    this.#calls.set(callId, call);
    this.addAssistant("", call);
  }

  addResult(callId: string, output: string, isError = false): void {
    const tool = this.#calls.get(callId)?.tool ?? "unknown";
    this.#messages.push({ role: "tool", callId, tool, ...toolResult(output, isError) });
  }
}

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

/** The form in which Claude Code sends the text that its user writes while it works. */
const QUEUED =
  /^(?:<system-reminder>)?\s*The user sent a new message while you were working:\n([\s\S]*?)(?:\n+IMPORTANT: After completing your current task[\s\S]*|\s*<\/system-reminder>\s*)?$/;

/** The prompt of the user in what an agent sends; empty if there is none. */
export function promptIn(text: string): string {
  return (queuedPrompt(text) ?? withoutTags(text.replace(INTERRUPTED, "")).replace(AGENTS_MD, "")).trim();
}

/** Returns the text that the user wrote while the agent worked, if the message contains such text. */
function queuedPrompt(text: string): string | undefined {
  return QUEUED.exec(text)?.[1];
}

/** A passage without an end is left as it is. */
function withoutTags(text: string): string {
  return TAGS.reduce((rest, tag) => {
    const [first = "", ...passages] = rest.split(`<${tag}>`);
    return passages.reduce((before, passage) => {
      const end = passage.indexOf(`</${tag}>`);
      return end === -1 ? `${before}<${tag}>${passage}` : before + passage.slice(end + tag.length + 3);
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

/**
 * Reports whether every command must ask to run outside of the agent's own sandbox; Codex mentions the
 * parameter in any case.
 */
export function escalatesCommands(texts: readonly string[]): boolean {
  return texts.some((text) => /\bevery command with sandbox_permissions\b/i.test(text));
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
