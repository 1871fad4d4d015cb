import type { Store } from "@flint/core/ports";
import type { EventBody } from "@flint/protocol";
import { onTestFinished } from "vitest";

/** A store with what the suite needs to try it. */
export interface StoreUnderTest {
  readonly store: Store;
  /** The same threads as they are found after the process that wrote them has ended. */
  reopen(): Promise<Store>;
  dispose(): Promise<void>;
}

/** Makes a new store for each check. */
export type MakeStore = () => Promise<StoreUnderTest>;

/** The store of one check, gone with its test. */
export async function arrange(make: MakeStore): Promise<StoreUnderTest> {
  const under = await make();
  onTestFinished(() => under.dispose());
  return under;
}

/** The event that drops turns of a thread. */
export function revert(threadId: string, turnIds: string[]): EventBody {
  return { type: "thread/reverted", data: { threadId, turnIds } };
}
