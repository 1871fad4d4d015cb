import { mayStillRun, processOwner, readBelow, replaceBelow } from "@flint/host/files";
import { z } from "zod/mini";

/** A session that a thread's agent works on. */
const OwnSession = z.object({
  /** The file in the agent's own folder that it was copied from, or was last published to. */
  original: z.optional(
    z.object({
      path: z.string(),
      identity: z.string(),
      /** The number of its first bytes that the agent did not write in this sandbox: they stay as they are. */
      known: z.number(),
    }),
  ),
});
export type OwnSession = z.infer<typeof OwnSession>;

const Stored = z.object({
  /** The process that uses the sessions; empty once it has published them. */
  owner: z.string(),
  /** The workspace of the thread. */
  cwd: z.string(),
  sessions: z.record(z.string(), OwnSession),
  /** The sessions of others, copied for the agent to begin with: their files. */
  copies: z.array(z.string()),
  /** The reasons why sessions could not be published, until the thread has reported them. */
  problems: z.array(z.string()),
});

/** Flint's record of the sessions of one thread's agent, stored beside them, where no agent can write. */
export type SessionRecord = z.infer<typeof Stored>;

const NAME = "record.json";
const MAX_BYTES = 1024 * 1024;

/** The record in a folder; undefined if there is none. */
export async function loadRecord(folder: string): Promise<SessionRecord | undefined> {
  const found = await readBelow({ root: folder, path: NAME }, MAX_BYTES);
  // Expected: half a file, after the machine stopped.
  try {
    const parsed: unknown = JSON.parse(found?.content.toString("utf8") ?? "");
    return Stored.safeParse(parsed).data;
  } catch {
    return undefined;
  }
}

/** Stores the record, completely or not at all. */
export function saveRecord(folder: string, record: SessionRecord): Promise<void> {
  return replaceBelow({ root: folder, path: NAME }, JSON.stringify(record));
}

/** Reports whether another process still uses a folder, or may do so. */
export async function isInUse({ owner }: SessionRecord): Promise<boolean> {
  return owner !== "" && owner !== (await processOwner()) && mayStillRun(owner);
}
