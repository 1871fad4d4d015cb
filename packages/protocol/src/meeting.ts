import * as z from "zod/mini";
import { absolutePath } from "./methods/row.ts";

/** What a server says of itself in its state folder. */
export const RunningServer = z.object({
  pid: z.number(),
  version: z.string(),
  /** Where it is met. */
  socket: z.string(),
  /** The folder in which threads begin of clients that name none. */
  cwd: z.string(),
  /** Stands for the settings in the environment that it was started with. */
  settings: z.string(),
  listeners: z.array(z.string()),
});
export type RunningServer = z.output<typeof RunningServer>;

/**
 * What is said at the meeting socket of a server before it is an ordinary connection: the newcomer sends one line, the
 * server answers with one line, and from then on the bytes are those of the chosen door.
 */
export const MEETING = {
  /** The newcomer: which door it wants, and where it works when it names no folder. */
  hello: z.object({
    door: z.string().check(z.maxLength(64)),
    cwd: z.optional(absolutePath),
  }),
  /** The server: that the door is open, or why it is not; then it ends the connection. */
  answer: z.union([
    z.object({ ok: z.literal(true), version: z.string() }),
    z.object({ ok: z.literal(false), reason: z.string() }),
  ]),
} as const;

/** The longest of these lines, in bytes: enough for the longest path, however it is written. */
export const LONGEST_MEETING_LINE = 32_768;

/** The first line of a newcomer. */
export type Hello = z.output<typeof MEETING.hello>;

/** The first line of the server. */
export type HelloAnswer = z.output<typeof MEETING.answer>;

/** A line as one of these, or undefined. */
export function readMeetingLine<Schema extends z.ZodMiniType>(
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
