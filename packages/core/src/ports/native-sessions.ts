import type { NativeSession, Turn } from "@flint/protocol";

/** One of an agent's own sessions, as its files describe it. */
export type NativeSessionInfo = Pick<NativeSession, "id" | "cwd" | "preview" | "updatedAt">;

/** The content of a session. */
export interface NativeHistory {
  readonly session: NativeSessionInfo;
  /** The full id of the model of its latest turn, if it is known. */
  readonly model: string | undefined;
  /** Whole turns, oldest first, with new ids; `_meta.nativeTurnId` is the agent's own id. */
  readonly turns: readonly Turn[];
  /** Notes on sessions that could not be read. */
  readonly notes: readonly string[];
}

/** The sessions that an agent stores itself. Everything in its files is untrusted. */
export interface NativeSessions {
  /** At most this many sessions, the latest first. Never rejects: what cannot be read is left out. */
  list(limit: number): Promise<readonly NativeSessionInfo[]>;
  /** Reads one session. Rejects with a FlintError if there is none, or its file cannot be read. */
  read(id: string): Promise<NativeHistory>;
}

/** The agent's own id of an imported turn; undefined for a turn that ran in Flint. */
export function nativeTurnIdOf({ _meta }: Turn): string | undefined {
  const id = _meta?.nativeTurnId;
  return typeof id === "string" ? id : undefined;
}
