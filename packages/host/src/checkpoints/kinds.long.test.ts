import { chmodSync, mkdirSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { mintId } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CheckpointFixture, type FaultPlan, faultyDisk } from "./testing/fixture.ts";

/** A file with its mode, a link, a folder, or nothing. */
type Tree = readonly [text: string, mode: number] | string | { readonly [name: string]: Tree } | null;

const KINDS: Readonly<Record<string, Tree>> = {
  "a file": ["text", 0o640],
  "a link": "elsewhere",
  "a link to a folder": "other",
  "an empty folder": {},
  "a folder": { a: ["a", 0o644], empty: {}, link: "a" },
  "a nested folder": { sub: { deep: { x: ["x", 0o755] } }, b: ["b", 0o600] },
  nothing: null,
};

function make(path: string, tree: Tree): void {
  if (tree === null) return;
  if (typeof tree === "string") symlinkSync(tree, path);
  else if (isFile(tree)) {
    writeFileSync(path, tree[0]);
    chmodSync(path, tree[1]);
  } else {
    mkdirSync(path);
    for (const [name, inner] of Object.entries(tree)) make(`${path}/${name}`, inner);
  }
}

function isFile(tree: object): tree is readonly [string, number] {
  return Array.isArray(tree);
}

function replace(fixture: CheckpointFixture, tree: Tree): void {
  rmSync(fixture.workspace.join("d"), { recursive: true, force: true });
  make(fixture.workspace.join("d"), tree);
}

async function withEntry(tree: Tree, plan: FaultPlan = { calls: [] }): Promise<CheckpointFixture> {
  const fixture = await CheckpointFixture.make(temporaryFolder, { disk: faultyDisk(plan) });
  make(fixture.workspace.join("other"), { kept: ["kept", 0o644] });
  make(fixture.workspace.join("d"), tree);
  return fixture;
}

async function expectRoundTrip(first: Tree, second: Tree): Promise<void> {
  const fixture = await withEntry(first);
  const before = fixture.contents();
  const turnId = await fixture.command(() => replace(fixture, second));
  const after = fixture.contents();
  expect((await fixture.preview(turnId)).conflicts).toEqual([]);
  const revertId = mintId();
  expect(await fixture.restore([turnId], revertId)).toMatchObject({ conflicts: [], notSaved: [] });
  expect(fixture.contents()).toEqual(before);
  expect((await fixture.undo(revertId)).conflicts).toEqual([]);
  expect(fixture.contents()).toEqual(after);
  expect((await fixture.restore([turnId])).conflicts).toEqual([]);
  expect(fixture.contents()).toEqual(before);
}

const PAIRS = Object.keys(KINDS).flatMap((first) =>
  Object.keys(KINDS).map((second) => [first, second] as const),
);

describe("a revert across kinds", () => {
  test.each(PAIRS.filter(([first, second]) => first !== second))(
    "restores %s that a turn replaced by %s, and its undo brings that back",
    (first, second) => expectRoundTrip(KINDS[first] ?? null, KINDS[second] ?? null),
  );

  const leaf = fc.oneof(
    fc.tuple(fc.string({ maxLength: 3 }), fc.constantFrom(0o600, 0o644, 0o755)),
    fc.constantFrom("a", "../other", "missing"),
  );
  const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      leaf,
      fc.dictionary(fc.constantFrom("a", "b", "c"), tie("tree"), { maxKeys: 3 }),
    ),
  }));

  test("restores any tree that a turn replaced by any other", async () => {
    await fc.assert(fc.asyncProperty(tree, tree, expectRoundTrip), { numRuns: 60 });
  });

  test("names the kind that is replaced and the kind that replaces it", async () => {
    const fixture = await withEntry(KINDS["a folder"] ?? null);
    const turnId = await fixture.command(() => replace(fixture, ["text", 0o644]));
    const { files } = await fixture.restore([turnId]);
    expect(files.map(({ path, action, kind, kindBefore }) => ({ path, action, kind, kindBefore }))).toEqual([
      { path: "d", action: "restore", kind: "folder", kindBefore: "file" },
      { path: "d/a", action: "create", kind: "file", kindBefore: undefined },
      { path: "d/empty", action: "create", kind: "folder", kindBefore: undefined },
      { path: "d/link", action: "create", kind: "link", kindBefore: undefined },
    ]);
  });

  test("leaves a folder with a file that is not the turn's, and says so", async () => {
    const fixture = await withEntry(KINDS["a file"] ?? null);
    const turnId = await fixture.command(() => replace(fixture, KINDS["a folder"] ?? null));
    writeFileSync(fixture.workspace.join("d", "mine"), "mine");
    const { conflicts } = await fixture.restore([turnId]);
    expect(conflicts).toMatchObject([{ path: "d", reason: "notEmpty" }]);
    expect(fixture.contents()).toMatchObject({ "d/mine": "644 mine" });
  });

  test("restores the files of a folder that an edit replaced", async () => {
    const fixture = await withEntry(KINDS["a nested folder"] ?? null);
    const before = fixture.contents();
    const turnId = await fixture.edit(["d"], () => replace(fixture, ["text", 0o644]));
    expect((await fixture.restore([turnId])).conflicts).toEqual([]);
    expect(fixture.contents()).toEqual(before);
  });

  test.each([
    ["a folder", "a file"],
    ["a file", "a folder"],
    ["a link", "an empty folder"],
    ["a nested folder", "a link to a folder"],
  ])("from %s to %s that is killed at any step can be repeated without loss", async (first, second) => {
    for (let step = 1, isOver = false; !isOver; step += 1) {
      const plan: FaultPlan = { calls: [] };
      const fixture = await withEntry(KINDS[first] ?? null, plan);
      const before = fixture.contents();
      const turnId = await fixture.command(() => replace(fixture, KINDS[second] ?? null));
      plan.calls.length = 0;
      plan.fails = (_call, _path, count) => (count >= step ? "crash" : undefined);
      await fixture.restore([turnId]).catch(() => undefined);
      isOver = plan.calls.length < step;
      fixture.restart();
      expect((await fixture.restore([turnId])).conflicts, `killed at call ${step}`).toEqual([]);
      expect(fixture.contents(), `killed at call ${step}`).toEqual(before);
    }
  });
});

test("a file that another program deletes during a revert is a conflict", async () => {
  const plan: FaultPlan = { calls: [] };
  const fixture = await withEntry(["old", 0o644], plan);
  const path = fixture.workspace.join("d");
  const turnId = await fixture.command(() => writeFileSync(path, "new"));
  plan.fails = (call, given) => {
    if (call === "rename" && given.endsWith("/d")) unlinkSync(path);
    return undefined;
  };
  expect((await fixture.restore([turnId])).conflicts).toMatchObject([{ path: "d", reason: "changedSince" }]);
});
