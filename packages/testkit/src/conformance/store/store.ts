import { describe, test } from "vitest";
import {
  checkBadIds,
  checkCursors,
  checkLatestTurn,
  checkListed,
  checkListPages,
  checkQueries,
  checkRemoval,
  checkReverted,
  checkRevertUndone,
  checkTurnPages,
  checkUnknown,
} from "./store-reading-checks.ts";
import {
  checkClose,
  checkClosedWriter,
  checkOneWriter,
  checkPeek,
  checkReading,
  checkReopening,
  checkReplay,
} from "./store-writing-checks.ts";
import type { MakeStore } from "./written-thread.ts";

export type { StoreUnderTest } from "./written-thread.ts";

/** One suite for every store: what the core relies on, wherever the threads are kept. */
export function describeStore(name: string, make: MakeStore): void {
  describe(`${name}, as any store`, () => {
    test("gives events their numbers in the order of writing, and reads them back from any place", () =>
      checkReading(make));
    test("finds a thread again as it was left, and goes on with its numbers", () => checkReopening(make));
    test("comes to the same state whenever it was checkpointed and reopened on the way", () =>
      checkReplay(make));
    test("reads a thread that is being written without disturbing its writer", () => checkPeek(make));
    test("lets only one writer have a thread", () => checkOneWriter(make));
    test("gives up every thread when it is closed", () => checkClose(make));
    test("refuses a writer that was closed", () => checkClosedWriter(make));
    test("reports an unknown thread", () => checkUnknown(make));
    test("refuses every id that is not a plain name [P27]", () => checkBadIds(make));
    test("pages through the turns from the newest to the oldest", () => checkTurnPages(make));
    test("leaves out turns that were reverted, also on the pages before", () => checkReverted(make));
    test("brings back turns whose revert was taken back", () => checkRevertUndone(make));
    test("shows the latest turn that is left when the latest one is reverted", () => checkLatestTurn(make));
    test("lists a thread from its first checkpoint on", () => checkListed(make));
    test("filters and orders the list", () => checkQueries(make));
    test("pages through the list, every thread once, in both orders and directions", () =>
      checkListPages(make));
    test("refuses a cursor that it did not give out", () => checkCursors(make));
    test("forgets a thread that is removed", () => checkRemoval(make));
  });
}
