import type { Result, ThreadState } from "@flint/protocol";

/** What a thread has used so far, as it is answered; the latest call of a model only if there was one. */
export function usageOf(state: ThreadState): Pick<Result<"thread/attach">, "usage" | "lastUsage" | "cost"> {
  const { usage, lastUsage, usageTurnId: turnId, modelContextWindow, cost } = state;
  const window = modelContextWindow === undefined ? {} : { modelContextWindow };
  return {
    usage,
    ...(turnId === undefined ? {} : { lastUsage: { turnId, usage: lastUsage, ...window } }),
    ...(cost === undefined ? {} : { cost }),
  };
}
