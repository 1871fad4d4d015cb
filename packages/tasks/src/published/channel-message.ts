import type { PublishedEvent } from "@flint/protocol";

/** A message in a channel, as the event about it tells it. */
export interface ChannelMessage {
  readonly session_id: string;
  readonly message_id: string;
  readonly kind: string;
  readonly sender: string;
  readonly recipient: string | null;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** The event that a message was posted to a channel. Readers fetch its text from the channel. */
export function messageEvent(message: ChannelMessage, project: string, now: number): PublishedEvent {
  const { session_id, message_id, kind, sender, recipient, metadata } = message;
  const extra = { session_id, message_id, kind, sender, recipient, metadata };
  return {
    ...extra,
    ...{ event_id: crypto.randomUUID(), type: "session:message", id: session_id, plan_id: session_id },
    ...{ project, status: kind, source: "cli", v: 1, ts: new Date(now).toISOString(), extra },
  };
}
