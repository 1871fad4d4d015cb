import type { Target } from "../target.ts";
import type { Channel, ChannelListener } from "../wire/channel.ts";
import type { Message } from "../wire/wire.ts";

/** Answers one line of a client with any number of messages. */
export type Answering = (line: Message | undefined, text: string) => readonly (object | string)[];

/** A server in this process that answers each line by a function, and counts its connections. */
export class SmallServer implements Target {
  readonly label = "small server";
  readonly shared: boolean;
  /** The number of connections that were opened, and how many of them were closed. */
  readonly counts = { opened: 0, closed: 0 };
  readonly #answering: Answering;

  constructor(answering: Answering, shared = true) {
    this.#answering = answering;
    this.shared = shared;
  }

  async connect(): Promise<Channel> {
    this.counts.opened += 1;
    let listener: ChannelListener | undefined;
    return {
      listen: (given) => {
        listener = given;
      },
      send: (text) =>
        queueMicrotask(() => {
          for (const message of this.#answering(objectIn(text), text)) {
            if (message === "close") listener?.closed(new Error("it hung up"));
            else listener?.text(typeof message === "string" ? message : JSON.stringify(message));
          }
        }),
      close: async () => {
        this.counts.closed += 1;
      },
    };
  }

  async close(): Promise<void> {}
}

function objectIn(text: string): Message | undefined {
  // Expected: text that is not JSON.
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
