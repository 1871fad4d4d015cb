import type { WireProcess } from "../processes/wire-process.ts";
import type { Order } from "../programs/order.ts";
import { deltaOf, streamTurn } from "./stream-turn.ts";

/** A program between an agent and a client, with a conversation in it. */
export interface Relay {
  readonly server: WireProcess;
  /** Runs a turn with this order to its end. */
  stream(order: Order): Promise<void>;
  /** The text that a line of streamed text carries. */
  textOf(line: string): string;
}

/** Returns a relay that uses the protocol of Flint, with a thread in it. */
export function threadRelay(server: WireProcess, threadId: string): Relay {
  return {
    server,
    stream: (order) => streamTurn(server, threadId, order),
    textOf: (line) => deltaOf(line).delta,
  };
}
