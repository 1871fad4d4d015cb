import type { EventData, Result } from "@flint/protocol";

type Spent = Pick<Result<"thread/attach">, "thread" | "usage" | "lastUsage" | "cost">;

/** The tokens of a thread as they were last told, for a client that was not there; undefined if they never were. */
export function lastToldUsage({
  thread,
  usage,
  lastUsage,
  cost,
}: Spent): EventData<"thread/tokenUsage/updated"> | undefined {
  if (lastUsage === undefined) return undefined;
  const { turnId, usage: last, modelContextWindow } = lastUsage;
  return {
    threadId: thread.id,
    turnId,
    usage,
    last,
    ...(modelContextWindow === undefined ? {} : { modelContextWindow }),
    ...(cost === undefined ? {} : { cost }),
  };
}
