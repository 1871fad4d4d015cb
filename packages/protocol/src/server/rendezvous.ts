import * as z from "zod/mini";
import { absolutePath } from "../methods/method.ts";

/** Files of the running server, relative to its state folder. */
export const RUN_FILES = {
  folder: "run",
  server: "run/server.json",
  token: "run/token",
  limitedTokens: "run/tokens.json",
  log: "run/server.log",
} as const;

/** The record that a running server keeps about itself in its state folder. */
export const RunningServer = z.object({
  pid: z.number(),
  version: z.string(),
  /** The path of its rendezvous socket. */
  socket: z.string(),
  /** The default working directory for clients that name none. */
  cwd: z.string(),
  /** A fingerprint of the environment settings it was started with. */
  settings: z.string(),
  listeners: z.array(z.string()),
  /** Start time, in milliseconds since 1970. */
  startedAt: z.optional(z.number()),
});
export type RunningServer = z.output<typeof RunningServer>;

/**
 * The handshake on a server's rendezvous socket: the client sends one line, the server answers with one line, and from
 * then on the connection uses the requested protocol.
 */
export const RENDEZVOUS = {
  /** The client: the protocol it uses, and its default working directory. */
  request: z.object({
    protocol: z.string().check(z.maxLength(64)),
    cwd: z.optional(absolutePath),
  }),
  /** The server: accepted, with the number of its other clients, or why not; it closes the connection after a refusal. */
  answer: z.union([
    z.object({ ok: z.literal(true), version: z.string(), clients: z.optional(z.number()) }),
    z.object({ ok: z.literal(false), reason: z.string() }),
  ]),
} as const;

/** The longest handshake line in bytes: enough for the longest path, however it is escaped. */
export const MAX_RENDEZVOUS_LINE = 32_768;

/** The client's handshake line. */
export type RendezvousRequest = z.output<typeof RENDEZVOUS.request>;

/** The server's handshake line. */
export type RendezvousAnswer = z.output<typeof RENDEZVOUS.answer>;

/** Parses a handshake line; undefined if it is not one. */
export function parseRendezvousLine<Schema extends z.ZodMiniType>(
  schema: Schema,
  line: string,
): z.output<Schema> | undefined {
  try {
    const parsed = schema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    // Not JSON: not a handshake.
    return undefined;
  }
}
