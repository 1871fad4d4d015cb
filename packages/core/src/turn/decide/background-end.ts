import { agentOfModel, type EventBody, mintId, type ThreadState, type Turn } from "@flint/protocol";
import { endedTurn } from "./closing.ts";
import { itemEvents } from "./turn.ts";

/**
 * The turn in which Flint says that it ends what an agent has in the background. It is a whole turn, because nothing is
 * added to one that has ended, and because whoever comes back looks at the turns.
 */
export function decideBackgroundEnd({ thread, settings }: ThreadState, now: number): EventBody[] {
  const { id: threadId } = thread;
  const reason = `Nobody has used this thread for as long as background_timeout allows, so what ${agentOfModel(settings.model)} had running in the background was ended.`;
  const turn: Turn = {
    ...{ id: mintId(now), status: "inProgress", items: [], kind: "prompt", startedAtMs: now },
    _meta: { startedBy: "flint", reason },
  };
  const told = {
    tool: "background",
    title: "Work in the background",
    status: "failed",
    error: reason,
  } as const;
  return [
    { type: "turn/started", data: { threadId, turn } },
    ...itemEvents(threadId, turn.id, { type: "toolCall", id: mintId(now), ...told }),
    {
      type: "turn/completed",
      data: { threadId, turn: endedTurn(turn, { status: "completed", by: "turnEnded" }, now) },
    },
  ];
}
