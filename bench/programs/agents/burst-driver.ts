import type { Driver, TurnContext, TurnOutcome } from "@flint/core/ports";
import { inputText, mintId } from "@flint/protocol";
import { type Order, PIECE, piecesPerItem } from "../order.ts";

/** Pieces that come in one go, as when a chunk of a pipe holds several lines. */
const PIECES_AT_ONCE = 5;

/** A driver whose agents live in the server itself, for measurements of what the server does and nothing else. */
export const burstDriver: Driver = {
  id: "burst",
  // It writes no files.
  asksFirst: true,
  models: async () => [{ id: "burst/inside", displayName: "Inside", isDefault: true }],
  options: async () => [],
  open: async () => ({ run, close: async () => undefined }),
};

async function run(turn: TurnContext): Promise<TurnOutcome> {
  // The prompts of measurements are orders.
  const order = JSON.parse(inputText(turn.input)) as Order;
  for (const pieces of piecesPerItem(order)) await say(turn, pieces);
  return { status: turn.signal.aborted ? "interrupted" : "completed" };
}

async function say(turn: TurnContext, pieces: number): Promise<void> {
  const id = mintId();
  turn.emit({ type: "item/started", item: { type: "agentMessage", id, text: "" } });
  for (let sent = 0; sent < pieces && !turn.signal.aborted; sent += 1) {
    turn.emit({ type: "item/agentMessage/delta", itemId: id, delta: PIECE });
    if (sent % PIECES_AT_ONCE === PIECES_AT_ONCE - 1) await turn.ready();
  }
  turn.emit({ type: "item/completed", item: { type: "agentMessage", id, text: PIECE.repeat(pieces) } });
}
