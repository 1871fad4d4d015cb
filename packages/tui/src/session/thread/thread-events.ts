import { type EventBody, isRecord, type QueuedInput, threadIdOf } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import { noticeOf } from "../../draw/draw-blocks.ts";
import { outcomeNotice } from "../answers.ts";
import type { SessionContext } from "../context.ts";
import type { InlineTranscript } from "../inline-transcript.ts";
import { changeNotice } from "../other-clients/change-notice.ts";
import { queueNotice } from "../other-clients/queue-notice.ts";
import type { SentInputs } from "../sent-inputs.ts";
import type { CurrentThread } from "./current-thread.ts";
import type { OpenThread } from "./open-thread.ts";

/** Dependencies of a thread's events on its session. */
export interface EventTarget extends Omit<SessionContext, "inputs"> {
  readonly inputs: SentInputs;
  readonly transcript: InlineTranscript;
  readonly thread: CurrentThread;
}

/** Shows what happens in the thread of a session beyond its rows: notices, answers, and what other clients change. */
export class ThreadEvents {
  readonly #session: EventTarget;
  readonly #open: OpenThread;

  constructor(session: EventTarget, open: OpenThread) {
    this.#session = session;
    this.#open = open;
  }

  /** Takes an event of any thread; those of others are no concern. */
  take(event: AgentEvent): void {
    if (this.#open.owns(threadOf(event))) this.#show(event);
  }

  #show(event: AgentEvent): void {
    const session = this.#session;
    if (event.type === "item/mcpToolCall/progress")
      session.transcript.progress(event.data.itemId, event.data.message);
    if (event.type === "thread/reverted") this.#open.turns.drop(event.data.turnIds);
    const block = noticeOf(event, session.look);
    if (block !== undefined) session.put(block);
    session.answers.whenResolved(event, (outcome) => {
      const resolved = outcomeNotice(outcome, session.look);
      if (resolved !== undefined) session.put(resolved);
    });
    if (event.type === "unknown") return;
    const isOwn = session.ownChanges.takes(event);
    if (event.type === "thread/deleted") session.thread.deleted(isOwn ? undefined : event.data.client);
    const change = isOwn ? undefined : this.#changeBy(event);
    if (change !== undefined) session.warn(change);
  }

  #changeBy(event: EventBody): string | undefined {
    if (event.type !== "thread/queue/changed")
      return changeNotice(event, (settings) => this.#session.describePermissions(settings));
    const { queue, client } = event.data;
    const isOwn = ({ clientId }: QueuedInput) => this.#session.inputs.isOwn(clientId);
    // The state gets the event after this.
    const before = this.#open.state?.queue ?? [];
    const isAddedHere = queue.some((each) => isOwn(each) && !before.some(({ id }) => id === each.id));
    return client === undefined || isAddedHere ? undefined : queueNotice(before, queue, client);
  }
}

function threadOf(event: AgentEvent): string | undefined {
  if (event.type !== "unknown") return threadIdOf(event);
  const threadId = isRecord(event.params) ? event.params.threadId : undefined;
  return typeof threadId === "string" ? threadId : undefined;
}
