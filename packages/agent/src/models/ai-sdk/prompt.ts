import type { Message, ToolCall } from "../model.ts";
import { cleanRecord, cleanText } from "./clean-text.ts";
import type { AssistantPart, Prompt, PromptMessage, ToolPart } from "./language-model.ts";
import { recordedContent } from "./provider-metadata.ts";

const NO_RESULT = "No result: the work was cut short before this was done.";

/** What every endpoint accepts as the name of a tool and as the id of a call. */
const PLAIN_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** A tool's name as every endpoint accepts it. */
export function safeToolName(name: string): string {
  return PLAIN_NAME.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unnamed";
}

/**
 * A conversation in the SDK's words. Whatever is odd in it is mended rather than sent, since an endpoint that refuses
 * one message would refuse every later request of the thread too.
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
  /** Calls of the latest assistant message that have no result yet. */
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
        this.#say({ role: "user", content: userContent(message) });
        return;
      case "assistant":
        this.#assistant(message);
        return;
      case "tool":
        this.#result(message);
        return;
    }
  }

  /** Instructions come first, and the user has the first and the last word. */
  finish(): Prompt {
    this.#closeCalls();
    if (this.#prompt[0]?.role !== "user") this.#prompt.unshift(goOn());
    if (this.#prompt.at(-1)?.role === "assistant") this.#prompt.push(goOn());
    const content = this.#instructions ?? "";
    return content === "" ? this.#prompt : [{ role: "system", content }, ...this.#prompt];
  }

  /** Only what comes first instructs. Later ones, such as summaries, are made of words of others and stay in their place. */
  #system(text: string): void {
    const isFirst = this.#instructions === undefined && this.#prompt.length === 0;
    if (isFirst) this.#instructions = cleanText(text);
    else this.#say({ role: "user", content: [{ type: "text", text: note(text) }] });
  }

  #say(message: PromptMessage): void {
    this.#closeCalls();
    this.#prompt.push(message);
  }

  #assistant(message: Extract<Message, { role: "assistant" }>): void {
    this.#closeCalls();
    const calls = message.calls.map((call) => this.#callPart(call));
    const text: AssistantPart[] =
      message.text === "" ? [] : [{ type: "text", text: cleanText(message.text) }];
    const kept = recordedContent(message, this.#model, (callId) => this.#callId(callId), calls);
    const content = kept ?? [...text, ...calls];
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
    const place = this.#open.findIndex(({ callId }) => callId === message.callId);
    const text = resultText(message);
    if (place === -1) {
      const told = note(`The tool ${message.tool} gave this result:\n${text}`);
      this.#say({ role: "user", content: [{ type: "text", text: told }] });
      return;
    }
    this.#open.splice(place, 1);
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

  /** Every call gets a result before anything else is said: endpoints refuse a call without one. */
  #closeCalls(): void {
    for (const { callId, tool } of this.#open) this.#pushResult(callId, tool, NO_RESULT, true);
    if (this.#results.length > 0) this.#prompt.push({ role: "tool", content: this.#results });
    this.#open = [];
    this.#results = [];
  }

  /** The id of a call as every endpoint accepts it; calls of another model may have any. */
  #callId(callId: string): string {
    if (PLAIN_NAME.test(callId)) return callId;
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
  const said = text === "" && files.length === 0 ? "(The message is empty.)" : text;
  return said === "" ? files : [{ type: "text", text: cleanText(said) }, ...files];
}

function resultText({ text, exitCode }: Extract<Message, { role: "tool" }>): string {
  const said = text === "" ? "(no output)" : cleanText(text);
  // Success needs no number: the status says it.
  return exitCode === undefined || exitCode === 0 ? said : `${said.trimEnd()}\n[exit code ${exitCode}]`;
}

function note(text: string): string {
  return `<note>\n${cleanText(text)}\n</note>`;
}

function goOn(): PromptMessage {
  return { role: "user", content: [{ type: "text", text: "Go on." }] };
}
