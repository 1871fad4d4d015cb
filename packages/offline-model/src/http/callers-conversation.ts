import { CUT_SHORT } from "@flint/agent/conversation";
import type { Message, ToolCall } from "@flint/agent/model";
import { resultOf, saidMeanwhile, saysStopped, usersWords } from "./callers-text.ts";
import type { CallersTools } from "./callers-tools.ts";

/** Builds the conversation that the offline model sees from what a caller sent, in the order it was sent. */
export class CallersConversation {
  readonly #tools: CallersTools;
  readonly #messages: Message[] = [];
  readonly #calls = new Map<string, ToolCall>();

  constructor(tools: CallersTools) {
    this.#tools = tools;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  instructed(text: string): void {
    if (saidMeanwhile(text) !== undefined) this.asked(text);
    else if (text !== "") this.#messages.push({ role: "system", text });
  }

  asked(text: string): void {
    if (saysStopped(text)) this.#stop();
    const words = usersWords(text);
    if (words !== "") this.#messages.push({ role: "user", text: words });
  }

  said(text: string): void {
    this.#assistant(text, []);
  }

  called(callId: string, name: string, input: unknown): void {
    const call = this.#tools.inward(callId, name, input);
    this.#calls.set(callId, call);
    this.#assistant("", [call]);
  }

  answered(callId: string, text: string, isError: boolean): void {
    const tool = this.#calls.get(callId)?.tool ?? "unknown";
    this.#messages.push({ role: "tool", callId, tool, ...resultOf(text, isError) });
  }

  /** What an assistant said and called in one go is one message, however many pieces it came in. */
  #assistant(text: string, calls: readonly ToolCall[]): void {
    const last = this.#messages.at(-1);
    if (last?.role !== "assistant") {
      this.#messages.push({ role: "assistant", text, calls });
      return;
    }
    this.#messages[this.#messages.length - 1] = {
      role: "assistant",
      text: [last.text, text].filter(Boolean).join("\n"),
      calls: [...last.calls, ...calls],
    };
  }

  /** Work that was stopped must not be taken up again. */
  #stop(): void {
    const last = this.#messages.at(-1);
    if (last !== undefined && last.role !== "system") this.#messages.push(CUT_SHORT);
  }
}
