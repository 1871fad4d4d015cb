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

/** One suite for every store: what the core relies on, wherever threads are stored. */
export function describeStore(name: string, make: MakeStore): void {
  describe(`${name}, as any store`, () => {
    test("numbers events in the order of writing, and reads them from any number on", () =>
      checkReading(make));
    test("reopens a thread as it was closed, and continues its numbers", () => checkReopening(make));
    test("has the same state whenever it was checkpointed and reopened", () => checkReplay(make));
    test("reads a thread that is being written without disturbing its writer", () => checkPeek(make));
    test("opens a thread for one writer at a time", () => checkOneWriter(make));
    test("releases every thread when it is closed", () => checkClose(make));
    test("rejects writes after the writer was closed", () => checkClosedWriter(make));
    test("reports an unknown thread", () => checkUnknown(make));
    test("rejects every invalid id [P27]", () => checkBadIds(make));
    test("pages through the turns from the newest to the oldest", () => checkTurnPages(make));
    test("leaves out reverted turns, also on older pages", () => checkReverted(make));
    test("includes turns again whose revert was undone", () => checkRevertUndone(make));
    test("returns the latest remaining turn when the latest one is reverted", () => checkLatestTurn(make));
    test("lists a thread from its first checkpoint on", () => checkListed(make));
    test("filters and orders the list", () => checkQueries(make));
    test("pages through the list, every thread once, in both orders and directions", () =>
      checkListPages(make));
    test("rejects a cursor that it did not return", () => checkCursors(make));
    test("has no trace of a removed thread", () => checkRemoval(make));
  });
}
