import type { StoredEvent } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { Sequence } from "./log-reader.ts";

type Line = number | "bad" | { foreign: number };

function run(lines: readonly Line[], last = 0) {
  const sequence = new Sequence(last);
  const accepted: StoredEvent[] = [];
  for (const line of lines) {
    if (line === "bad") sequence.addDamaged();
    else if (typeof line === "number") sequence.add(line, event(line), accepted);
    else sequence.add(line.foreign, undefined, accepted);
  }
  const trailing = sequence.end(accepted);
  return { seqs: accepted.map(({ seq }) => seq), ...sequence.damage, last: sequence.last, trailing };
}

function event(seq: number): StoredEvent {
  return { seq, at: 0, type: "thread/archived", data: { threadId: "t" } };
}

describe("the order of records", () => {
  test.each<[string, Line[], object]>([
    ["an intact log has no damage", [1, 2, 3], { seqs: [1, 2, 3], records: 0, missing: 0 }],
    [
      "an unreadable line is one record, not also a missing number",
      [1, "bad", 3],
      { seqs: [1, 3], records: 1, missing: 0 },
    ],
    ["a lost line is a missing number", [1, 3, 4], { seqs: [1, 3, 4], records: 0, missing: 1 }],
    ["more is missing than is unreadable", [1, "bad", 5, 6], { seqs: [1, 5, 6], records: 1, missing: 2 }],
    [
      "an incomplete line that was written again hides nothing",
      [1, 2, "bad", 3],
      { seqs: [1, 2, 3], records: 1, missing: 0 },
    ],
    [
      "a number that jumps ahead hides only itself",
      [1, 900, 3, 4],
      { seqs: [1, 3, 4], records: 1, missing: 0 },
    ],
    ["a number that falls back hides only itself", [1, 2, 1, 4], { seqs: [1, 2, 4], records: 1, missing: 0 }],
    ["a repeated record counts once", [1, 2, 2, 3], { seqs: [1, 2, 3], records: 1, missing: 0 }],
    ["two jumps in a row", [1, 900, 950, 4, 5], { seqs: [1, 4, 5], records: 2, missing: 0 }],
    ["a number that looked like the next one", [1, 3, 3, 4], { seqs: [1, 3, 4], records: 1, missing: 0 }],
    ["every second line is lost", [1, 3, 5, 7], { seqs: [1, 3, 5, 7], records: 0, missing: 3 }],
    [
      "unreadable lines around a jump",
      [1, "bad", 900, "bad", 5, 6],
      { seqs: [1, 5, 6], records: 3, missing: 0 },
    ],
    ["unreadable lines at the end", [1, "bad", "bad"], { seqs: [1], records: 2, missing: 0, trailing: 2 }],
    ["a jump at the end is accepted", [1, 5], { seqs: [1, 5], missing: 3, last: 5 }],
    [
      "records of a later version take their numbers",
      [1, { foreign: 2 }, 3],
      { seqs: [1, 3], records: 0, missing: 0 },
    ],
  ])("%s", (_, lines, expected) => {
    expect(run(lines)).toMatchObject(expected);
  });

  test("continues from a number", () => {
    expect(run([7, 9, 10], 6)).toMatchObject({ seqs: [7, 9, 10], missing: 1 });
  });
});
