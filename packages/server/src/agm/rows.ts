import { Id, isRecord } from "@flint/protocol";
import * as z from "zod/mini";

const text = z.string();

/** The kinds of messages. */
export const MessageKind = z.enum(["steer", "question", "broadcast", "dm", "context"]);

/** A session as it is stored: a channel of messages about one piece of work. */
export const StoredSession = z.object({
  id: Id,
  title: text,
  /** The folder of its work. */
  project_id: text,
  /** The trigger that created it: a request, or its first task. */
  trigger: z.enum(["api", "task"]),
  created_at: text,
});
export type StoredSession = z.output<typeof StoredSession>;

/** A message of a session, as it is stored and sent. */
export const MessageRow = z.object({
  id: Id,
  session_id: Id,
  kind: MessageKind,
  /** The author, as role:id. */
  sender: text,
  recipient: z.nullable(text),
  content: text,
  metadata: z.nullable(z.record(z.string(), z.unknown())),
  /** The steer that it tells of. */
  steer_id: z.optional(Id),
  created_at: text,
});
export type MessageRow = z.output<typeof MessageRow>;

/** One line of the file of channels. */
export type ChannelLine = { readonly session: StoredSession } | { readonly message: MessageRow };

/** Parses a line of the file; undefined for a line that was damaged. */
export function readChannelLine(line: string): ChannelLine | undefined {
  // Expected: a line that a fault of the disk has damaged.
  try {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) return undefined;
    const session = StoredSession.safeParse(value.session);
    if (session.success) return { session: session.data };
    const message = MessageRow.safeParse(value.message);
    return message.success ? { message: message.data } : undefined;
  } catch {
    return undefined;
  }
}

/** A time as this wire writes it, to the second. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
