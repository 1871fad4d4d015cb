import type { EventData, Result } from "@flint/protocol";

type Attached = Pick<Result<"thread/attach">, "thread" | "usage" | "lastUsage" | "cost">;

/** The latest token usage of a thread, for a client that subscribes later; undefined if there was none yet. */
export function lastUsageOf({
  thread,
  usage,
  lastUsage,
  cost,
}: Attached): EventData<"thread/tokenUsage/updated"> | undefined {
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
