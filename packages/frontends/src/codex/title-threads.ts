import {
  inputText,
  mintId,
  type Thread,
  type ThreadItem,
  type ThreadSettings,
  type Turn,
  type UserInput,
} from "@flint/protocol";
import type { ApprovalWords } from "./approval-words.ts";
import { type CodexNotification, outbound } from "./outbound.ts";
import { titleAnswer } from "./title.ts";

/** What clients call a thread whose only purpose is to find a title for another one. */
export const TITLE_SOURCE = "thread_title";

/** How many of them a client may have at once; the oldest is forgotten first. */
const MOST_THREADS = 100;

/**
 * Titles cost nothing here: clients ask for them by a whole turn of an agent, and get the same messages, but the title
 * is made from the words of the prompt. Nothing of it is stored, and nobody else hears of it.
 */
export class TitleThreads {
  readonly #send: (message: CodexNotification) => void;
  readonly #words: ApprovalWords;
  readonly #threads = new Map<string, Thread>();

  constructor(send: (message: CodexNotification) => void, words: ApprovalWords) {
    this.#send = send;
    this.#words = words;
  }

  /** Begins a thread for a title. `answer` is called before the client is told that it started. */
  start(settings: ThreadSettings, modelProvider: string, answer: (thread: Thread) => void): void {
    const now = Date.now();
    const thread: Thread = {
      id: mintId(now),
      preview: "",
      modelProvider,
      model: settings.model,
      cwd: settings.cwd,
      createdAt: Math.floor(now / 1000),
      updatedAt: Math.floor(now / 1000),
      archived: false,
      ephemeral: true,
      status: { type: "idle" },
    };
    this.#threads.set(thread.id, thread);
    const [oldest] = this.#threads.keys();
    if (this.#threads.size > MOST_THREADS && oldest !== undefined) this.#threads.delete(oldest);
    answer(thread);
    this.#tell({ type: "thread/started", data: { thread, settings }, at: now });
  }

  /** Whether a thread lives here. */
  has(threadId: string): boolean {
    return this.#threads.has(threadId);
  }

  /** The client needs it no more. False if it never lived here. */
  end(threadId: string): boolean {
    return this.#threads.delete(threadId);
  }

  /** Answers a prompt with a title. `answer` is called before anything of the turn is told. */
  run(threadId: string, input: readonly UserInput[], schema: unknown, answer: (turn: Turn) => void): void {
    const at = Date.now();
    const running: Turn = { id: mintId(at), status: "inProgress", items: [], startedAtMs: at };
    const asked: ThreadItem = { type: "userMessage", id: mintId(at), content: [...input] };
    const text = titleAnswer(inputText(input), schema);
    const said: ThreadItem = { type: "agentMessage", id: mintId(at), text };
    const ofTurn = { threadId, turnId: running.id };
    const ended: Turn = {
      ...running,
      status: "completed",
      items: [asked, said],
      completedAtMs: at,
      durationMs: 0,
    };
    answer(running);
    this.#tell({ type: "turn/started", data: { threadId, turn: running }, at });
    this.#tell({ type: "item/started", data: { ...ofTurn, item: asked }, at });
    this.#tell({ type: "item/completed", data: { ...ofTurn, item: asked }, at });
    this.#tell({ type: "item/started", data: { ...ofTurn, item: { ...said, text: "" } }, at });
    this.#tell({
      type: "item/agentMessage/delta",
      data: { ...ofTurn, itemId: said.id, delta: text, offset: 0 },
      at,
    });
    this.#tell({ type: "item/completed", data: { ...ofTurn, item: said }, at });
    this.#tell({ type: "turn/completed", data: { threadId, turn: ended }, at });
  }

  #tell(event: Parameters<typeof outbound>[0]): void {
    for (const message of outbound(event, this.#words))
      if (message.kind === "notification") this.#send(message);
  }
}
