import * as z from "zod/mini";
import { DOOR_NAMES } from "../doors.ts";

/**
 * What is said at the meeting socket of a server before it is an ordinary connection: the newcomer sends one line, the
 * server answers with one line, and from then on the bytes are those of the chosen door.
 */
export const MEETING = {
  /** The newcomer: which door it wants. */
  hello: z.object({ door: z.string().check(z.maxLength(64)) }),
  /** The server: that the door is open, or why it is not; then it ends the connection. */
  answer: z.union([
    z.object({ ok: z.literal(true), version: z.string() }),
    z.object({ ok: z.literal(false), reason: z.string() }),
  ]),
} as const;

/** The first line of a newcomer. */
export type Hello = z.output<typeof MEETING.hello>;

/** The first line of the server. */
export type HelloAnswer = z.output<typeof MEETING.answer>;

/** A line as one of these, or undefined. */
export function readLine<Schema extends z.ZodMiniType>(
  schema: Schema,
  line: string,
): z.output<Schema> | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}

/** Said to whoever asks for a door that is not there. */
export function noSuchDoor(name: string): string {
  return `There is no door ${JSON.stringify(name)}; there are ${DOOR_NAMES.join(", ")}.`;
}
