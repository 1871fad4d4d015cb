import { Gate } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const TAB = "\t";
const DIFF = "@@ -1,1 +1,1 @@\n-before\n+after\n";

function screenOf(session: SessionFixture): string {
  return session.terminal.screen.join("\n");
}

/** Returns the text that was copied last. */
function copied(session: SessionFixture): string {
  const [last = ""] = session.terminal.writes.join("").split("]52;c;").at(-1)?.split("\u0007") ?? [];
  return Buffer.from(last, "base64").toString();
}

test("u moves a queued prompt up", async () => {
  const gate = new Gate();
  const session = await SessionFixture.open({ scripts: [[{ wait: gate }]] });
  await session.keys("work", ENTER, "one", TAB, "two", TAB, "/queue", ENTER, "\u001b[B", "u");
  expect(session.terminal.screen.filter((row) => row.includes("queued:"))).toEqual([
    "○ queued: two",
    "○ queued: one",
  ]);
  gate.open();
});

test("/fork #N continues in a copy that ends with that turn", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "A" }], [{ text: "B" }], [{ text: "C" }]] });
  await session.keys("one", ENTER, "two", ENTER, "three", ENTER, "/fork #2", ENTER);
  const { data } = await session.client.listThreads();
  const copy = data.find(({ forkedFromId }) => forkedFromId !== undefined);
  const { turns } = await session.client.call("thread/read", {
    threadId: copy?.id ?? "",
    includeTurns: true,
  });
  expect(turns).toHaveLength(2);
});

test.each([
  ["/review", { type: "uncommittedChanges" }],
  ["/review branch main", { type: "baseBranch", branch: "main" }],
  ["/review 0123abc", { type: "commit", sha: "0123abc" }],
  ["/review the error handling", { type: "custom", instructions: "the error handling" }],
])("%s reviews just that", async (typed, target) => {
  const session = await SessionFixture.open({ scripts: [[{ text: "Fine." }]] });
  await session.keys(typed, ENTER);
  expect(session.engine.driver.sessions[0]?.turns[0]?.review).toMatchObject(target);
});

describe("/diff", () => {
  const change = (name: string) => ({
    fileChange: [{ path: `/code/${name}`, kind: "modify" as const, diff: DIFF }],
    asks: false,
  });

  test.each([
    ["/diff #1", "first.ts", "second.ts"],
    ["/diff last", "second.ts", "first.ts"],
  ])("%s shows the changes of that turn", async (typed, shown, other) => {
    const session = await SessionFixture.open({ scripts: [[change("first.ts")], [change("second.ts")]] });
    await session.keys("one", ENTER, "two", ENTER, typed, ENTER);
    expect(session.terminal.screen[0]).toContain("Changes in this turn");
    expect(screenOf(session)).toContain(shown);
    expect(screenOf(session)).not.toContain(other);
  });
});

test("/export FILE writes the thread there, and /copy thread copies the same", async () => {
  const session = await SessionFixture.open({ scripts: [[{ text: "the answer" }]] });
  await session.keys("ask", ENTER, "/export notes.md", ENTER, "/copy thread", ENTER);
  expect(session.files.get("notes.md")).toContain("the answer");
  expect(copied(session)).toBe(session.files.get("notes.md"));
});
