import type { AcpSession } from "../sessions/session.ts";
import { isOutOfSteps } from "./stop-reason.ts";
import type { InputEnd, InputWatch, TurnWishes } from "./turns.ts";

/** How often work that ran out of steps is sent on, while its plan has steps left, before the user has to say so. */
const MOST_CONTINUATIONS = 5;

/** Sends an input. What stops only for want of steps goes on by itself while the plan has steps left, a few times. */
export function sendInput(session: AcpSession, wishes: TurnWishes, watch: InputWatch, continued = 0): void {
  const onEnd = (end: InputEnd): void => {
    const isUnfinished = end.kind === "turn" && isOutOfSteps(end.turn) && session.openSteps > 0;
    if (!isUnfinished || continued >= MOST_CONTINUATIONS) {
      watch.onEnd(end);
      return;
    }
    const nudge: TurnWishes = { input: [{ type: "text", text: "continue" }], isNudge: true };
    sendInput(session, nudge, followUp(watch), continued + 1);
  };
  session.prompts.send(wishes, { ...watch, onEnd });
}

/** Watches what follows from an input: only the first message of a prompt is the one that the client sent. */
export function followUp({ onEnd, onSent }: InputWatch): InputWatch {
  return onSent === undefined ? { onEnd } : { onEnd, onSent };
}
