import type { Message, ToolCall } from "../model.ts";
import { cleanRecord, cleanText } from "./clean-text.ts";
import type { AssistantPart, Prompt, PromptMessage, ToolPart } from "./language-model.ts";
import { recordedContent } from "./provider-metadata.ts";

const NO_RESULT = "No result: the turn was interrupted before this call ran.";

/** Pattern of the tool names and call ids that every endpoint accepts. */
const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A tool name that every endpoint accepts. */
export function safeToolName(name: string): string {
  return SAFE_NAME.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}

/**
 * Converts a conversation for the SDK. Malformed content is repaired rather than sent, since an endpoint that rejects
 * one message would reject every later request of the thread too.
 */
export function toPrompt(messages: readonly Message[], model: string): Prompt {
  const builder = new PromptBuilder(model);
  for (const message of messages) builder.add(message);
  return builder.finish();
}

class PromptBuilder {
  readonly #model: string;
  #instructions: string | undefined;
  readonly #prompt: PromptMessage[] = [];
  readonly #callIds = new Map<string, string>();
  /** Calls of the last assistant message that have no result yet. */
  #open: ToolCall[] = [];
  #results: ToolPart[] = [];

  constructor(model: string) {
    this.#model = model;
  }

  add(message: Message): void {
    switch (message.role) {
      case "system":
        this.#system(message.text);
        return;
      case "user":
        this.#push({ role: "user", content: userContent(message) });
        return;
      case "assistant":
        this.#assistant(message);
        return;
      case "tool":
        this.#result(message);
        return;
    }
  }

  /** Instructions come first; the conversation begins and ends with a user message. */
  finish(): Prompt {
    this.#closeCalls();
    if (this.#prompt[0]?.role !== "user") this.#prompt.unshift(goOn());
    if (this.#prompt.at(-1)?.role === "assistant") this.#prompt.push(goOn());
    const content = this.#instructions ?? "";
    return content === "" ? this.#prompt : [{ role: "system", content }, ...this.#prompt];
  }

  /** Only the first system message instructs. Later ones, such as summaries, contain untrusted text and become notes. */
  #system(text: string): void {
    const isFirst = this.#instructions === undefined && this.#prompt.length === 0;
    if (isFirst) this.#instructions = cleanText(text);
    else this.#push({ role: "user", content: [{ type: "text", text: note(text) }] });
  }

  #push(message: PromptMessage): void {
    this.#closeCalls();
    this.#prompt.push(message);
  }

  #assistant(message: Extract<Message, { role: "assistant" }>): void {
    this.#closeCalls();
    const calls = message.calls.map((call) => this.#callPart(call));
    const text: AssistantPart[] =
      message.text === "" ? [] : [{ type: "text", text: cleanText(message.text) }];
    const recorded = recordedContent(message, this.#model, (callId) => this.#callId(callId), calls);
    const content = recorded ?? [...text, ...calls];
    if (content.length > 0) this.#prompt.push({ role: "assistant", content });
    this.#open = [...message.calls];
  }

  #callPart({ callId, tool, input }: ToolCall): Extract<AssistantPart, { type: "tool-call" }> {
    return {
      type: "tool-call",
      toolCallId: this.#callId(callId),
      toolName: safeToolName(tool),
      input: cleanRecord(input),
    };
  }

  #result(message: Extract<Message, { role: "tool" }>): void {
    const index = this.#open.findIndex(({ callId }) => callId === message.callId);
    const text = resultText(message);
    if (index === -1) {
      const result = note(`The tool ${message.tool} returned this result:\n${text}`);
      this.#push({ role: "user", content: [{ type: "text", text: result }] });
      return;
    }
    this.#open.splice(index, 1);
    this.#pushResult(message.callId, message.tool, text, message.status !== "done");
  }

  #pushResult(callId: string, tool: string, value: string, isError: boolean): void {
    this.#results.push({
      type: "tool-result",
      toolCallId: this.#callId(callId),
      toolName: safeToolName(tool),
      output: { type: isError ? "error-text" : "text", value },
    });
  }

  /** Every call gets a result before the next message: endpoints reject a call without one. */
  #closeCalls(): void {
    for (const { callId, tool } of this.#open) this.#pushResult(callId, tool, NO_RESULT, true);
    if (this.#results.length > 0) this.#prompt.push({ role: "tool", content: this.#results });
    this.#open = [];
    this.#results = [];
  }

  /** A call id that every endpoint accepts; calls of another model may have any. */
  #callId(callId: string): string {
    if (SAFE_NAME.test(callId)) return callId;
    const known = this.#callIds.get(callId) ?? `call_${this.#callIds.size + 1}`;
    this.#callIds.set(callId, known);
    return known;
  }
}

function userContent({
  text,
  images = [],
}: Extract<Message, { role: "user" }>): Extract<PromptMessage, { role: "user" }>["content"] {
  const files = images.map(({ mediaType, base64 }) => ({ type: "file", mediaType, data: base64 }) as const);
  const shown = text === "" && files.length === 0 ? "(The message is empty.)" : text;
  return shown === "" ? files : [{ type: "text", text: cleanText(shown) }, ...files];
}

function resultText({ text, exitCode }: Extract<Message, { role: "tool" }>): string {
  const output = text === "" ? "(no output)" : cleanText(text);
  // An exit code of 0 is implied by the status.
  return exitCode === undefined || exitCode === 0 ? output : `${output.trimEnd()}\n[exit code ${exitCode}]`;
}

function note(text: string): string {
  return `<note>\n${cleanText(text)}\n</note>`;
}

function goOn(): PromptMessage {
  return { role: "user", content: [{ type: "text", text: "Go on." }] };
}
