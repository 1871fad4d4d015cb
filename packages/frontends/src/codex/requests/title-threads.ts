import type { Clock } from "@flint/core/ports";
import {
  inputText,
  mintId,
  type Thread,
  type ThreadEvent,
  type ThreadItem,
  type ThreadSettings,
  type Turn,
  type UserInput,
} from "@flint/protocol";

/** The source of a thread whose only purpose is to find a title for another one. */
export const TITLE_SOURCE = "thread_title";

/** Maximum number of them per client; the oldest is forgotten first. */
const MOST_THREADS = 100;

/**
 * The threads in which clients ask an agent for a title. They get the messages of such a turn, but the title is made from
 * the words of the prompt, at no cost. Nothing is stored, and no other client is sent anything.
 */
export class TitleThreads {
  readonly #clock: Clock;
  readonly #send: (event: ThreadEvent) => void;
  readonly #threads = new Map<string, Thread>();
  /** The threads by id. */
  readonly threads: ReadonlyMap<string, Thread> = this.#threads;

  /** `send` sends the client an event. */
  constructor(clock: Clock, send: (event: ThreadEvent) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Starts a thread for a title. `answer` is called before the client is sent that it started. */
  start(settings: ThreadSettings, modelProvider: string, answer: (thread: Thread) => void): void {
    const now = this.#clock.now();
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
    this.#send({ type: "thread/started", data: { thread, settings }, at: now });
  }

  /** The client leaves or deletes a thread. False if it is not one of these. */
  end(threadId: string): boolean {
    return this.#threads.delete(threadId);
  }

  /** Answers a prompt with a title. `answer` is called before any event of the turn is sent. */
  run(threadId: string, input: readonly UserInput[], schema: unknown, answer: (turn: Turn) => void): void {
    const at = this.#clock.now();
    const running: Turn = { id: mintId(at), status: "inProgress", items: [], startedAtMs: at };
    const prompt: ThreadItem = { type: "userMessage", id: mintId(at), content: [...input] };
    const text = titleJson(inputText(input), schema);
    const message: ThreadItem = { type: "agentMessage", id: mintId(at), text };
    const ofTurn = { threadId, turnId: running.id };
    const ended: Turn = {
      ...running,
      status: "completed",
      items: [prompt, message],
      completedAtMs: at,
      durationMs: 0,
    };
    answer(running);
    this.#send({ type: "turn/started", data: { threadId, turn: running }, at });
    this.#send({ type: "item/started", data: { ...ofTurn, item: prompt }, at });
    this.#send({ type: "item/completed", data: { ...ofTurn, item: prompt }, at });
    this.#send({ type: "item/started", data: { ...ofTurn, item: { ...message, text: "" } }, at });
    this.#send({
      type: "item/agentMessage/delta",
      data: { ...ofTurn, itemId: message.id, delta: text, offset: 0 },
      at,
    });
    this.#send({ type: "item/completed", data: { ...ofTurn, item: message }, at });
    this.#send({ type: "turn/completed", data: { threadId, turn: ended }, at });
  }
}

/** The length of a title whose schema sets none. */
const DEFAULT_LENGTH = 36;

type Schema = Readonly<Record<string, unknown>>;

/** Reports whether an output schema is that of a title and nothing else. */
export function isTitleSchema(schema: unknown): schema is Schema {
  const properties = Object.entries(propertiesOf(schema));
  const [name, property] = properties[0] ?? [];
  return properties.length === 1 && name === "title" && Object(property).type === "string";
}

/** A title made from the words of a prompt, as JSON of that schema. */
export function titleJson(prompt: string, schema: unknown): string {
  const { maxLength } = Object(propertiesOf(schema).title);
  const room = typeof maxLength === "number" && maxLength > 0 ? maxLength : DEFAULT_LENGTH;
  return JSON.stringify({ title: titleOf(prompt, Math.min(room, DEFAULT_LENGTH)) });
}

/** Clients put their instructions first and the user's prompt last, after a line that ends with a colon. */
function titleOf(prompt: string, room: number): string {
  const text = /\n\n[^\n]*(?:prompt|messages?):\n([\s\S]*)$/i.exec(prompt)?.[1] ?? prompt;
  const words = text
    .replace(/[`*_#"<>{}[\]|]+/g, " ")
    .trim()
    .split(/\s+/);
  let title = "";
  for (const word of words) {
    const longer = title === "" ? word : `${title} ${word}`;
    if (longer.length > room) break;
    title = longer;
  }
  const cut = title === "" ? [...text.trim()].slice(0, room).join("") : title;
  const plain = cut.replace(/[\s.,;:!?]+$/, "") || "Untitled";
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

function propertiesOf(schema: unknown): Schema {
  return Object(Object(schema).properties);
}
