import type { WireNotification, WireProcess } from "../processes/wire-process.ts";
import type { Order } from "../programs/order.ts";

/** Returns the params of `turn/start` that have an order carried out. */
export function orderParams(
  threadId: string,
  order: Order,
): { threadId: string; input: { type: "text"; text: string }[] } {
  return { threadId, input: [{ type: "text", text: JSON.stringify(order) }] };
}

/** Starts a turn and waits until it has completed. */
export async function streamTurn(server: WireProcess, threadId: string, order: Order): Promise<void> {
  const ended = server.next(
    (received) => received.method === "turn/completed" && threadOf(received) === threadId,
  );
  await server.exchange("turn/start", orderParams(threadId, order));
  const status = turnStatusOf(await ended);
  if (status !== "completed") throw new Error(`A turn that was to be measured ended as ${String(status)}.`);
}

/** The thread that a notification is about. */
export function threadOf({ params }: WireNotification): unknown {
  return member(params, "threadId");
}

/** The status of the turn whose end a notification reports. */
export function turnStatusOf({ params }: WireNotification): unknown {
  return member(member(params, "turn"), "status");
}

/** The text that a line of streamed text carries. */
export function deltaOf(line: string): { threadId: string; itemId: string; delta: string; offset?: number } {
  // The line was chosen by its method, and servers of this repository write what the method says.
  return JSON.parse(line).params as { threadId: string; itemId: string; delta: string; offset?: number };
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
