import { existsSync, linkSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import type { DriverEvent } from "@flint/core/ports";
import type { Action, Decision, FileUpdateChange, SandboxPolicy } from "@flint/protocol";
import { settled, temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import type { ToolContext } from "./tool.ts";
import { WRITE_FILE } from "./write-file.ts";

interface Wishes {
  readonly decide?: () => Decision["outcome"];
  readonly policy?: SandboxPolicy;
}

/** Lets the tool write in a folder; gives what came of it, what was asked and how the item ended. */
async function write(cwd: string, path: string, content: string, wishes: Wishes = {}) {
  const events: DriverEvent[] = [];
  const asked: Action[] = [];
  const { signal } = new AbortController();
  const settings = {
    model: "flint/offline",
    cwd,
    approvalPolicy: "always" as const,
    sandboxPolicy: wishes.policy ?? { type: "workspaceWrite" as const },
    config: {},
  };
  const turn: ToolContext["turn"] = {
    ...{ turnId: "turn", kind: "prompt", input: [], review: undefined, outputSchema: undefined },
    ...{ settings, signal, ready: settled, ask: async () => ({}) },
    emit: (event) => void events.push(event),
    approve: async (action) => {
      asked.push(action);
      return { outcome: wishes.decide?.() ?? "allow", scope: "once" };
    },
  };
  const sandbox = { state: () => Promise.reject(), launch: () => Promise.reject() };
  const outcome = await WRITE_FILE.run({ path, content }, { turn, signal, sandbox, itemId: "item" });
  const last = events.findLast((event) => event.type === "item/completed");
  return { outcome, asked, item: last?.type === "item/completed" ? last.item : undefined };
}

test("a new file and its folders are made, an existing one is changed, and the same text changes nothing", async () => {
  const folder = await temporaryFolder();
  const added = await write(folder.path, "deep/er/a.txt", "one\n");
  expect(added).toMatchObject({
    outcome: { result: { status: "done" } },
    item: { status: "completed", changes: [{ kind: "add", path: folder.join("deep", "er", "a.txt") }] },
  });
  const changed = await write(folder.path, folder.join("deep", "er", "a.txt"), "two\n");
  const changes: FileUpdateChange[] = [
    {
      path: folder.join("deep", "er", "a.txt"),
      kind: "modify",
      diff: "--- a/deep/er/a.txt\n+++ b/deep/er/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n",
    },
  ];
  expect(changed.asked).toEqual([{ kind: "fileChange", itemId: "item", changes }]);
  expect(readFileSync(folder.join("deep", "er", "a.txt"), "utf8")).toBe("two\n");
  expect((await write(folder.path, "deep/er/a.txt", "two\n")).asked).toEqual([]);
});

test("a shorter text leaves nothing of the longer one", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("a"), "a long text\nof two lines\n");
  await write(folder.path, "a", "é\n");
  expect(readFileSync(folder.join("a"), "utf8")).toBe("é\n");
});

test("a declined change changes nothing", async () => {
  const folder = await temporaryFolder();
  const { item, outcome } = await write(folder.path, "b.txt", "x\n", { decide: () => "deny" });
  expect([item, outcome]).toMatchObject([{ status: "declined" }, { result: { status: "declined" } }]);
  expect(existsSync(folder.join("b.txt"))).toBe(false);
});

test("a file that is changed, made or swapped while the user is asked is not overwritten", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(folder.join("a.txt"), "one\n");
  writeFileSync(outside.join("theirs"), "theirs\n");
  const meanwhile = (action: () => void) => ({
    decide: () => {
      action();
      return "allow" as const;
    },
  });
  const change = meanwhile(() => writeFileSync(folder.join("a.txt"), "theirs\n"));
  expect((await write(folder.path, "a.txt", "two\n", change)).item).toMatchObject({ status: "failed" });
  const make = meanwhile(() => writeFileSync(folder.join("b.txt"), "theirs\n"));
  expect((await write(folder.path, "b.txt", "two\n", make)).item).toMatchObject({ status: "failed" });
  const swap = meanwhile(() => symlinkSync(outside.join("theirs"), folder.join("c.txt")));
  expect((await write(folder.path, "c.txt", "two\n", swap)).item).toMatchObject({ status: "failed" });
  const texts = [folder.join("a.txt"), folder.join("b.txt"), outside.join("theirs")];
  expect(texts.map((file) => readFileSync(file, "utf8"))).toEqual(["theirs\n", "theirs\n", "theirs\n"]);
});

test("files outside, behind links or under protected names are not even asked about [P32]", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(outside.join("target"), "theirs\n");
  symlinkSync(outside.path, folder.join("link"));
  symlinkSync(outside.join("target"), folder.join("target"));
  symlinkSync(outside.join("missing"), folder.join("dangling"));
  const refused = [
    ...[
      outside.join("x"),
      "../x",
      `${folder.path}-neighbour/x`,
      "a/../../x",
      "link/x",
      "link/new/x",
      "target",
      "dangling",
    ],
    ...[".mcp.json", ".git/hooks/x", "sub/.Claude/x", ".bashrc", ".", "", "a\0b"],
  ];
  for (const path of refused) {
    const { asked, item, outcome } = await write(folder.path, path, "x\n");
    expect({ path, asked, item, outcome }).toMatchObject({
      asked: [],
      item: { status: "failed", output: expect.stringMatching(/\.$/) },
      outcome: { result: { status: "failed" } },
    });
  }
  expect(readdirSync(outside.path)).toEqual(["target"]);
  expect(readFileSync(outside.join("target"), "utf8")).toBe("theirs\n");
  expect(readdirSync(folder.path).sort()).toEqual(["dangling", "link", "target"]);
});

test("a file that is also somewhere else under another name is not written through", async () => {
  const folder = await temporaryFolder();
  const outside = await temporaryFolder();
  writeFileSync(outside.join("theirs"), "theirs\n");
  linkSync(outside.join("theirs"), folder.join("mine"));
  expect((await write(folder.path, "mine", "x\n")).item).toMatchObject({ status: "failed" });
  expect(readFileSync(outside.join("theirs"), "utf8")).toBe("theirs\n");
});

test("the policy decides where it may write at all", async () => {
  const folder = await temporaryFolder();
  const listed = await temporaryFolder();
  const readOnly = await write(folder.path, "a", "x\n", { policy: { type: "readOnly" } });
  expect(readOnly.outcome).toMatchObject({ result: { text: expect.stringContaining("readOnly") } });
  const policy = { type: "workspaceWrite" as const, writableRoots: [listed.path] };
  await write(folder.path, listed.join("a"), "x\n", { policy });
  expect([existsSync(folder.join("a")), existsSync(listed.join("a"))]).toEqual([false, true]);
  const free = await write(folder.path, listed.join("b"), "x\n", { policy: { type: "dangerFullAccess" } });
  expect(free.item).toMatchObject({ status: "failed" });
});

test("a file that is not text is left alone", async () => {
  const folder = await temporaryFolder();
  writeFileSync(folder.join("image"), Buffer.from([0xff, 0xfe, 0x00]));
  expect((await write(folder.path, "image", "x\n")).item).toMatchObject({ output: "image is not text." });
});
