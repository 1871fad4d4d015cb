import { BareDriver, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const HUNK = "@@ -1,1 +1,1 @@\n-before\n+after\n";

function screenOf(session: SessionFixture): string {
  return session.terminal.screen.join("\n");
}

/** Returns the text that was copied last. */
function copied(session: SessionFixture): string {
  const [last = ""] = session.terminal.writes.join("").split("]52;c;").at(-1)?.split("\u0007") ?? [];
  return Buffer.from(last, "base64").toString();
}

/** An output that is too long to be shown whole unless it is unfolded. */
function outputOf(name: string): string {
  const lines = Array.from({ length: 15 }, (_, at) => `line ${at}`);
  return [...lines, `output of ${name}`, ...lines, ""].join("\n");
}

/** A session on the transcript of a thread with two commands and their output. */
async function opened(options: { readonly screen?: "inline" | "full" | "plain" } = {}) {
  const command = (name: string) => ({ command: name, asks: false, output: [outputOf(name)] });
  const scripts = [
    [command("make"), { text: "Made." }],
    [command("test"), { text: "Tested." }],
  ];
  const session = await SessionFixture.open({ rows: 100, scripts, ...options });
  await session.keys("one", ENTER, "two", ENTER, "/transcript", ENTER);
  return session;
}

describe("a row of the transcript", () => {
  test.each(["inline", "full"] as const)(
    "is selected with its keys and folded alone (%s)",
    async (screen) => {
      const session = await opened({ screen });
      expect(screenOf(session)).toContain("Enter folds all · [ ] select");
      await session.keys("[", "[", "[");
      expect(screenOf(session)).toMatch(/▸ .*test/);
      await session.keys(ENTER);
      expect(screenOf(session)).not.toContain("output of test");
      expect(screenOf(session)).toContain("output of make");
      expect(screenOf(session)).toContain("Enter unfold");
      await session.keys(ENTER);
      expect(screenOf(session)).toContain("output of test");
    },
  );

  test("without a selection all are folded, and one of them is unfolded", async () => {
    const session = await opened();
    await session.keys(ENTER);
    expect(screenOf(session)).not.toContain("output of");
    await session.keys("]", "]");
    expect(screenOf(session)).toMatch(/▸ .*make/);
    await session.keys(ENTER);
    expect(screenOf(session)).toContain("output of make");
    expect(screenOf(session)).not.toContain("output of test");
  });

  test("is shown when it is selected, in a thread that is longer than the screen", async () => {
    const text = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n\n");
    const session = await SessionFixture.open({ scripts: [[{ text }], [{ text: "short" }]] });
    await session.keys("first prompt", ENTER, "second", ENTER, "/transcript", ENTER);
    expect(screenOf(session)).not.toContain("› first prompt");
    await session.keys(...Array.from({ length: 6 }, () => "["));
    expect(screenOf(session)).toContain("▸ › first prompt");
    await session.keys("]");
    expect(screenOf(session)).toContain("line 0");
  });

  test("is copied", async () => {
    const session = await opened();
    await session.keys("[", "[", "y");
    expect(copied(session)).toBe("Tested.");
    expect(screenOf(session)).toContain("Copied.");
    await session.keys("[", "y");
    expect(copied(session)).toBe(`test\n${outputOf("test")}`);
  });

  test("is a place to go back to or to continue from in a copy", async () => {
    const session = await opened();
    await session.keys("]", "u");
    expect(screenOf(session)).toContain("Remove the turns since then and edit the prompt");
    await session.keys("\u0003", "\u001b", "/transcript", ENTER, "]", "f");
    expect(session.terminal.everything).toContain("This is a copy");
    await session.keys("/status", ENTER);
    expect(screenOf(session)).toMatch(/Turns +1\n/);
  });

  test("shows the changes of its turn, and opens its image", async () => {
    const changes = [{ path: "/code/a.ts", kind: "modify" as const, diff: HUNK }];
    const scripts = [[{ fileChange: changes, asks: false }, { text: "done" }], [{ text: "A cat." }]];
    const session = await SessionFixture.open({ rows: 40, scripts });
    await session.keys("change it", ENTER);
    const other = await session.connect();
    const thread = await other.attachThread((await other.listThreads()).data[0]?.id ?? "");
    await thread.run([{ type: "localImage", path: "/code/cat.png" }]);
    await session.keys("/transcript", ENTER, "]", "]", "v");
    expect(session.terminal.screen[0]).toContain("Changes in this turn");
    await session.keys("q", "/transcript", ENTER, "[", "[", "[", "i");
    expect(session.opened).toEqual(["/code/cat.png"]);
    expect(screenOf(session)).toContain("Opened /code/cat.png");
  });

  test("stops the command in the background that it shows", async () => {
    let running = [
      { processId: "7", command: "npm start", cwd: "/code" },
      { processId: "8", command: "make", cwd: "/code" },
    ];
    const item = {
      ...{ type: "commandExecution" as const, id: "c1", command: "npm start", cwd: "/code" },
      ...{ status: "completed" as const, _meta: { background: { processId: "7" } } },
    };
    const driver = new BareDriver({
      run: async (turn) => {
        turn.emit({ type: "item/started", item });
        turn.emit({ type: "item/completed", item });
        return { status: "completed" };
      },
      isBusy: () => running.length > 0,
      backgroundCommands: async () => running,
      stopBackgroundCommand: async (processId) => {
        running = running.filter((each) => each.processId !== processId);
        return true;
      },
    });
    const session = await SessionFixture.open({ rows: 40, engine: testEngine({ driver }) });
    await session.keys("serve", ENTER, "/transcript", ENTER, "]", "]", "e");
    expect(screenOf(session)).toContain("Stopped 7.");
    expect(running.map(({ processId }) => processId)).toEqual(["8"]);
  });

  test("is named in plain mode, with what its keys do", async () => {
    const session = await opened({ screen: "plain" });
    const before = session.terminal.writes.length;
    await session.keys("[", "[", "[");
    const printed = session.terminal.writes.slice(before).join("");
    expect(printed).toMatch(/test · Enter fold · y copy/);
    expect(printed).not.toContain("output of make");
  });
});
