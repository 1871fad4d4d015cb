import { INTERRUPTED_NOTE } from "@flint/agent/conversation";
import type { Message, ToolCall } from "@flint/agent/model";
import { isInterruption, promptIn, queuedPrompt, toolResult } from "./agent-text.ts";
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
    if (isInterruption(text) && last !== undefined && last.role !== "system")
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
