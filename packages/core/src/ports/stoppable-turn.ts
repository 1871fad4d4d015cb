import { type Decision, failedToolCall } from "@flint/protocol";
import type { TurnContext } from "./driver.ts";

const CANCELLED: Decision = { outcome: "cancel", scope: "once", message: "The turn has ended." };

const ENDED = failedToolCall("The turn has ended.");

/** A turn whose questions end when the signal says so, whoever was asked and whatever they do. */
export function stoppableTurn(turn: TurnContext, signal: AbortSignal): TurnContext {
  return {
    turnId: turn.turnId,
    kind: turn.kind,
    input: turn.input,
    settings: turn.settings,
    review: turn.review,
    outputSchema: turn.outputSchema,
    agentInitiated: turn.agentInitiated,
    signal,
    emit: (event) => turn.emit(event),
    ready: () => orAborted(turn.ready(), signal, undefined),
    approve: (action, guarantees) => orAborted(turn.approve(action, guarantees), signal, CANCELLED),
    ask: (itemId, questions) => orAborted(turn.ask(itemId, questions), signal, {}),
    callTool: (call) => orAborted(turn.callTool(call), signal, ENDED),
  };
}

/** What a promise gives, or something else as soon as the signal says so. */
export function orAborted<Value, Otherwise>(
  work: Promise<Value>,
  signal: AbortSignal,
  otherwise: Otherwise,
): Promise<Value | Otherwise> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(otherwise);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
