import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The path of the log of a thread. */
export function logPath(home: string, threadId: string): string {
  return join(home, "threads", threadId, "events.jsonl");
}

/** The lines of a log, and which of them are whole records. */
export function readLog(
  home: string,
  threadId: string,
): { lines: string[]; whole: string[]; torn: string[] } {
  const text = readFileSync(logPath(home, threadId), "utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return { lines, whole: lines.filter(isWhole), torn: lines.filter((line) => !isWhole(line)) };
}

/** Fails if a torn record and a later one share a line. */
export function expectNothingMerged(torn: readonly string[]): void {
  const merged = torn.filter((line) => line.split('{"seq":').length > 2);
  assert.deepEqual(merged, [], "no record stands on the line of a torn one");
}

/** Every path below a folder, folders included. */
export function pathsBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}

function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    // Half a record.
    return false;
  }
}
