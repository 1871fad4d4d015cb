import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answerElicitation } from "@flint/core/elicitation";
import type { UserQuestion } from "@flint/protocol";
import { BareDriver, Gate, type Script, type Step, temporaryFolder } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { SessionFixture, type SessionFixtureOptions } from "../testing/session-fixture.ts";

const ENTER = "\r";
const UP = "\u001b[A";
const DOWN = "\u001b[B";
const BACKSPACE = "\u007f";
const COLOURS = [{ label: "red" }, { label: "green" }, { label: "blue", description: "like the sky" }];

/** A session whose agent asks these questions. */
async function asked(questions: readonly UserQuestion[], options: SessionFixtureOptions = {}) {
  const session = await SessionFixture.open({
    scripts: [[{ ask: questions }, { text: "Thanks." }]],
    ...options,
  });
  await session.keys("go", ENTER);
  const answers = () => session.engine.driver.sessions[0]?.turns[0]?.answers;
  return { session, answers, screen: () => session.terminal.screen.join("\n") };
}

test("several questions are asked one after the other, and sent together", async () => {
  const questions = [
    { id: "colour", header: "Paint", question: "Which colour?", options: COLOURS },
    { id: "name", question: "Which name?" },
  ];
  const { session, answers, screen } = await asked(questions);
  expect(screen()).toContain("▸ 1/2 Paint: Which colour?");
  await session.keys(ENTER);
  expect(screen()).toContain("1/2");
  await session.keys(DOWN, DOWN, DOWN, UP, ENTER);
  expect([screen().includes("▸ 2/2 Which name?"), answers()]).toEqual([true, []]);
  await session.keys("Ann", "x", BACKSPACE, ENTER);
  expect(answers()).toEqual([{ colour: { answers: ["green"] }, name: { answers: ["Ann"] } }]);
  expect(session.terminal.everything).toContain("Thanks.");
});

test("of several options, numbers and Space mark those that are sent", async () => {
  const { session, answers, screen } = await asked([
    { id: "colours", question: "Which colours?", options: COLOURS, multiple: true },
  ]);
  await session.keys("1", "2", "1", DOWN, DOWN, " ");
  expect(screen()).toMatch(/1 \[ \] red\n.*2 \[x\] green\n.*3 \[x\] blue {2}like the sky/);
  await session.keys(ENTER);
  expect(answers()).toEqual([{ colours: { answers: ["green", "blue"] } }]);
});

test("words of the user's own are an answer, also if there are options", async () => {
  const { session, answers } = await asked([{ id: "colour", question: "Which colour?", options: COLOURS }]);
  await session.keys("pale pink", ENTER);
  expect(answers()).toEqual([{ colour: { answers: ["pale pink"] } }]);
});

test("a secret is never shown, and is in neither history nor drafts", async () => {
  const { path: notesFolder } = await temporaryFolder();
  const { session, answers, screen } = await asked([{ id: "key", question: "Your key?", secret: true }], {
    notesFolder,
  });
  await session.keys(" s3cret ");
  expect(screen()).toContain("(hidden)");
  await session.keys(ENTER);
  expect(answers()).toEqual([{ key: { answers: [" s3cret "] } }]);
  await session.keys("\u0004");
  expect(session.terminal.writes.join("")).not.toContain("s3cret");
  const files = readdirSync(notesFolder, { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  const kept = files.map((file) => readFileSync(join(file.parentPath, file.name), "utf8"));
  expect(kept.join("\n")).toContain("go");
  expect(kept.join("\n")).not.toContain("s3cret");
});

test("what an MCP server asks for is answered in place, and asked again if it does not fit", async () => {
  const given: unknown[] = [];
  const requestedSchema = {
    type: "object",
    properties: { port: { type: "integer", title: "Port", minimum: 1 }, open: { type: "boolean" } },
    required: ["port"],
  };
  const driver = new BareDriver({
    run: async (turn) => {
      given.push(
        await answerElicitation("docs", { message: "Where?", requestedSchema }, (all) => turn.ask("i", all)),
      );
      return { status: "completed" };
    },
  });
  const session = await SessionFixture.open({ driver });
  const screen = () => session.terminal.screen.join("\n");
  await session.keys("go", ENTER);
  expect(screen()).toContain("docs asks: Where?");
  await session.keys("many", ENTER, "1", ENTER);
  expect(screen()).toContain("Port");
  await session.keys("8080", ENTER);
  expect(given).toEqual([{ action: "accept", content: { port: 8080, open: true } }]);
});

test("a budget that is used up is extended in place", async () => {
  const usage = { inputTokens: 150, outputTokens: 0 };
  const scripts = [[{ usage }, { command: "make" }]];
  const session = await SessionFixture.open({ columns: 100, scripts, budget: { turn: { tokens: 100 } } });
  const screen = () => session.terminal.screen.join("\n");
  await session.keys("go", ENTER);
  expect(screen()).toContain(
    "▸ Budget: The turn has reached its limit of 100 tokens (150 tokens used). Continue?",
  );
  await session.keys("sure", ENTER);
  expect(screen()).toContain("Please answer y, n, or a number.");
  await session.keys("y", ENTER);
  expect(session.terminal.everything).toContain("$ make");
});

test("a budget that is used up ends the turn if the user says so", async () => {
  const usage = { inputTokens: 150, outputTokens: 0 };
  const session = await SessionFixture.open({
    scripts: [[{ usage }, { wait: new Gate() }]],
    budget: { turn: { tokens: 100 } },
  });
  await session.keys("/status", ENTER);
  await session.keys("q", "go", ENTER, "2", ENTER);
  expect(session.terminal.everything).toContain("reached its limit of 100 tokens");
  expect(session.terminal.screen.join("\n")).not.toContain("Esc to interrupt");
  await session.keys("/status", ENTER);
  expect(session.terminal.screen.join("\n")).toMatch(/Budget +100 tokens per turn/);
});

describe("what was typed for something else", () => {
  /** A session whose agent asks once the gate is open. */
  async function asking(...steps: Script) {
    const gate = new Gate();
    const scripts = [[{ wait: gate }, ...steps]];
    const session = await SessionFixture.open({ scripts, budget: { turn: { tokens: 100 } } });
    await session.keys("go", ENTER);
    const turn = () => session.engine.driver.sessions[0]?.turns[0];
    /** Keys that come soon after each other. */
    const quickly = async (...keys: readonly string[]) => {
      for (const key of keys) {
        session.terminal.type(key);
        await session.settle(60);
      }
    };
    const ask = async () => {
      gate.open();
      await session.settle(60);
    };
    return { session, ask, quickly, turn, screen: () => session.terminal.screen.join("\n") };
  }
  const question: Step = {
    ask: [{ id: "q", question: "Delete all?", options: [{ label: "yes" }, { label: "no" }] }],
  };

  test("answers no question that has just appeared", async () => {
    const { session, ask, quickly, turn, screen } = await asking(question);
    await ask();
    expect(screen()).toContain("Delete all?");
    await quickly("1", ENTER);
    await session.settle();
    expect(turn()?.answers).toEqual([]);
    await session.keys("2", ENTER);
    expect(turn()?.answers).toEqual([{ q: { answers: ["no"] } }]);
  });

  test("goes on in the prompt that it belongs to", async () => {
    const { session, ask, quickly, turn, screen } = await asking(question);
    await quickly("half a senten");
    await ask();
    await quickly("ce");
    await session.settle();
    expect(screen()).not.toContain("ce\n");
    await session.keys(ENTER);
    expect(turn()?.answers).toEqual([]);
    await session.keys("1", ENTER);
    expect(turn()?.answers).toEqual([{ q: { answers: ["yes"] } }]);
    expect(screen()).toContain("› half a sentence");
  });

  test("extends no budget", async () => {
    const { session, ask, quickly, screen } = await asking(
      { usage: { inputTokens: 150, outputTokens: 0 } },
      { command: "make" },
    );
    await quickly("please do it prett");
    await ask();
    expect(screen()).toContain("Continue?");
    await quickly("y", ENTER);
    await session.settle();
    expect(session.terminal.everything).not.toContain("$ make");
    expect(screen()).toContain("Continue?");
    await session.keys("y", ENTER);
    expect(session.terminal.everything).toContain("$ make");
  });

  test("is not pasted into an answer; what is pasted later is", async () => {
    const { session, ask, quickly, turn } = await asking({ ask: [{ id: "q", question: "Which name?" }] });
    const paste = (text: string) => `\u001b[200~${text}\u001b[201~`;
    await ask();
    await quickly(paste("early"));
    await session.settle();
    await session.keys(paste("Ann"), ENTER);
    expect(turn()?.answers).toEqual([{ q: { answers: ["Ann"] } }]);
  });

  test.each(["inline", "plain"] as const)(
    "chooses from the menu that is open, which stays in front (%s)",
    async (screen) => {
      const gate = new Gate();
      const session = await SessionFixture.open({ screen, scripts: [[{ wait: gate }, { command: "make" }]] });
      const decisions = () => session.engine.driver.sessions[0]?.turns[0]?.decisions;
      await session.keys("go", ENTER, "/theme", ENTER);
      gate.open();
      await session.settle();
      expect(session.terminal.everything).toContain("$ make");
      expect(session.terminal.everything).not.toContain("Allow it?");
      await session.keys(DOWN, ENTER);
      expect(session.config.get("theme")).toBe("dark");
      expect([session.terminal.everything.includes("Allow it?"), decisions()]).toEqual([true, []]);
      await session.keys("y");
      expect(decisions()).toMatchObject([{ outcome: "allow" }]);
    },
  );

  test("answers no question in the inbox", async () => {
    const { session, ask, quickly, turn } = await asking(question);
    await session.keys("/inbox", ENTER);
    await ask();
    await quickly("r", "1", ENTER);
    await session.settle();
    expect(turn()?.answers).toEqual([]);
  });
});
