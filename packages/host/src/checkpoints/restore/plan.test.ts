import { describe, expect, test } from "vitest";
import type { FilesRecord } from "../records/thread-records.ts";
import type { Change, Entry, State } from "../scan/entry.ts";
import { type DiskView, planFiles } from "./plan.ts";

const file = (hash: string): Entry => ({ kind: "file", hash, size: 1, mode: 0o644 });
const folder: Entry = { kind: "folder", mode: 0o755 };

function record(...changes: Change[]): FilesRecord {
  return { id: "turn", kind: "turn", roots: ["/repo"], changes, notSaved: [] };
}

function view(present: Readonly<Record<string, State | "blocked">>): DiskView {
  return {
    current: (path) => present[path],
    children: (path) => Object.keys(present).filter((other) => other.startsWith(`${path}/`)),
    isStored: (entry) => entry.kind !== "file" || entry.hash !== "lost",
  };
}

describe("a plan", () => {
  test("never leaves the roots and never touches configuration of version control or agents", () => {
    const changes = [
      "/other/x",
      "/repo",
      "/workshop/x",
      "/repo/../etc/x",
      "/repo/a//b",
      "/repo/sub/.GIT/config",
    ];
    const plan = planFiles(
      [
        record(
          ...[...changes, "/repo/.claude/x"].map((path) => ({ path, before: file("a"), after: undefined })),
        ),
      ],
      view({}),
    );
    expect(plan).toEqual({
      steps: [],
      conflicts: [],
      notSaved: [
        ["/repo/.claude/x", "protected"],
        ["/repo/sub/.GIT/config", "protected"],
      ],
    });
  });

  test("deletes from the inside out, then creates from the outside in", () => {
    const present = { "/repo/new": folder, "/repo/new/in": folder, "/repo/new/in/x": file("x") };
    const made = Object.entries(present).map(([path, after]) => ({ path, before: undefined, after }));
    const gone = [
      { path: "/repo/old/in/y", before: file("y"), after: undefined },
      { path: "/repo/old", before: folder, after: undefined },
      { path: "/repo/old/in", before: folder, after: undefined },
    ];
    const { steps } = planFiles([record(...made, ...gone)], view(present));
    expect(steps.map(({ path }) => path)).toEqual([
      ...["/repo/new/in/x", "/repo/new/in", "/repo/new"],
      ...["/repo/old", "/repo/old/in", "/repo/old/in/y"],
    ]);
  });

  test("leaves a folder and its parents when it contains something else", () => {
    const present = { "/repo/a": folder, "/repo/a/b": folder, "/repo/a/b/mine": file("m") };
    const made = ["/repo/a", "/repo/a/b"].map((path) => ({ path, before: undefined, after: folder }));
    expect(planFiles([record(...made)], view(present))).toEqual({
      steps: [],
      conflicts: [
        ["/repo/a/b", "notEmpty"],
        ["/repo/a", "notEmpty"],
      ],
      notSaved: [],
    });
  });

  test("has no step for a file that ended as it began, even if it changed since", () => {
    const there = record({ path: "/repo/x", before: file("a"), after: file("b") });
    const back = record({ path: "/repo/x", before: file("b"), after: file("a") });
    expect(planFiles([there, back], view({ "/repo/x": file("c") })).conflicts).toEqual([]);
  });

  test("leaves a file alone that was changed after the turn, or by something else between the turns", () => {
    const since = record({ path: "/repo/since", before: file("a"), after: file("b") });
    const first = record({ path: "/repo/between", before: file("a"), after: file("b") });
    const second = record({ path: "/repo/between", before: file("mine"), after: file("c") });
    const present = { "/repo/since": file("mine"), "/repo/between": file("c") };
    expect(planFiles([since, first, second], view(present))).toEqual({
      steps: [],
      conflicts: [
        ["/repo/since", "changedSince"],
        ["/repo/between", "changedBetween"],
      ],
      notSaved: [],
    });
  });

  test("reports what cannot be restored, and why", () => {
    const change = (path: string, before: State) => ({ path, before, after: file("b") });
    const large: Entry = { kind: "unsaved", why: "tooLarge", stamp: "1" };
    const present = {
      "/repo/lost": file("b"),
      "/repo/blocked": "blocked",
      "/repo/large": file("b"),
    } as const;
    const changes = [
      change("/repo/lost", file("lost")),
      change("/repo/blocked", file("a")),
      change("/repo/large", large),
    ];
    expect(planFiles([record(...changes)], view(present))).toEqual({
      steps: [],
      conflicts: [
        ["/repo/lost", "notSaved"],
        ["/repo/blocked", "blocked"],
      ],
      notSaved: [["/repo/large", "tooLarge"]],
    });
  });
});
