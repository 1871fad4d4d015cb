import { describe, expect, test } from "vitest";
import type { Change, Entry, State } from "./entry.ts";
import { planFiles, type View } from "./plan.ts";
import type { FilesRecord } from "./turn-record.ts";

const file = (hash: string): Entry => ({ kind: "file", hash, size: 1, mode: 0o644 });
const folder: Entry = { kind: "folder", mode: 0o755 };

function record(...changes: Change[]): FilesRecord {
  return { id: "turn", kind: "turn", roots: ["/work"], changes, notSaved: [] };
}

function view(present: Readonly<Record<string, State | "blocked">>): View {
  return {
    present: (path) => present[path],
    children: (path) => Object.keys(present).filter((other) => other.startsWith(`${path}/`)),
    isKept: (entry) => entry.kind !== "file" || entry.hash !== "lost",
  };
}

describe("a plan", () => {
  test("never leaves the roots and never touches what steers version control or agents", () => {
    const changes = [
      "/other/x",
      "/work",
      "/workshop/x",
      "/work/../etc/x",
      "/work/a//b",
      "/work/sub/.GIT/config",
    ];
    const plan = planFiles(
      [
        record(
          ...[...changes, "/work/.claude/x"].map((path) => ({ path, before: file("a"), after: undefined })),
        ),
      ],
      view({}),
    );
    expect(plan).toEqual({
      steps: [],
      conflicts: [],
      notSaved: [
        ["/work/sub/.GIT/config", "protected"],
        ["/work/.claude/x", "protected"],
      ],
    });
  });

  test("removes from the inside out, then makes from the outside in", () => {
    const present = { "/work/new": folder, "/work/new/in": folder, "/work/new/in/x": file("x") };
    const made = Object.entries(present).map(([path, after]) => ({ path, before: undefined, after }));
    const gone = [
      { path: "/work/old/in/y", before: file("y"), after: undefined },
      { path: "/work/old", before: folder, after: undefined },
      { path: "/work/old/in", before: folder, after: undefined },
    ];
    const { steps } = planFiles([record(...made, ...gone)], view(present));
    expect(steps.map(({ path }) => path)).toEqual([
      ...["/work/new/in/x", "/work/new/in", "/work/new"],
      ...["/work/old", "/work/old/in", "/work/old/in/y"],
    ]);
  });

  test("leaves a folder with everything above it when something else is in it", () => {
    const present = { "/work/a": folder, "/work/a/b": folder, "/work/a/b/mine": file("m") };
    const made = ["/work/a", "/work/a/b"].map((path) => ({ path, before: undefined, after: folder }));
    expect(planFiles([record(...made)], view(present))).toEqual({
      steps: [],
      conflicts: [
        ["/work/a/b", "notEmpty"],
        ["/work/a", "notEmpty"],
      ],
      notSaved: [],
    });
  });

  test("has nothing to do for a file that ended as it began, whoever changed it since", () => {
    const there = record({ path: "/work/x", before: file("a"), after: file("b") });
    const back = record({ path: "/work/x", before: file("b"), after: file("a") });
    expect(planFiles([there, back], view({ "/work/x": file("c") })).conflicts).toEqual([]);
  });

  test("says what cannot be put back, and why", () => {
    const change = (path: string, before: State) => ({ path, before, after: file("b") });
    const large: Entry = { kind: "unsaved", why: "tooLarge", stamp: "1" };
    const present = {
      "/work/lost": file("b"),
      "/work/blocked": "blocked",
      "/work/large": file("b"),
    } as const;
    const changes = [
      change("/work/lost", file("lost")),
      change("/work/blocked", file("a")),
      change("/work/large", large),
    ];
    expect(planFiles([record(...changes)], view(present))).toEqual({
      steps: [],
      conflicts: [
        ["/work/lost", "notSaved"],
        ["/work/blocked", "blocked"],
      ],
      notSaved: [["/work/large", "tooLarge"]],
    });
  });
});
