import type { DriverEvent } from "@flint/core/ports";
import { Gate, type Script, type Step } from "@flint/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { SessionFixture } from "../testing/session-fixture.ts";
import type { SessionServer } from "./connection.ts";

const ENTER = "\r";
const COLUMNS = 60;
/** Heights of terminals: streamed text is often higher than the first, and never than the second. */
const [LOW, HIGH] = [12, 60];

/** Something that an agent does, with words in it that are to be found again. */
type Work =
  | { readonly kind: "message"; readonly blocks: readonly Block[] }
  | { readonly kind: "command"; readonly lines: number };
type Block = { readonly kind: "words" | "list" | "code"; readonly length: number };

/** A change of the terminal's size, and how many characters of the rest arrive before the next one. */
interface Moment {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  readonly characters: number;
}

const block: fc.Arbitrary<Block> = fc.record({
  kind: fc.constantFrom("words" as const, "list" as const, "code" as const),
  length: fc.integer({ min: 1, max: 25 }),
});
const work: fc.Arbitrary<Work> = fc.oneof(
  fc.record({
    kind: fc.constant("message" as const),
    blocks: fc.array(block, { minLength: 1, maxLength: 4 }),
  }),
  fc.record({ kind: fc.constant("command" as const), lines: fc.integer({ min: 0, max: 3 }) }),
);
const characters = fc.integer({ min: 1, max: 200 });
/** The sizes at which nothing stale stays either: one side changes at a time, and live rows have room on the screen. */
const moment: fc.Arbitrary<Moment> = fc.oneof(
  fc.record({ characters, columns: fc.integer({ min: 24, max: 110 }) }),
  fc.record({ characters, rows: fc.integer({ min: HIGH, max: HIGH + 20 }) }),
);

/** Both sides at once, and as low as it gets: rows that were live may stay above, where they cannot be erased. */
const anySize: fc.Arbitrary<Moment> = fc.record({
  characters,
  columns: fc.integer({ min: 24, max: 110 }),
  rows: fc.integer({ min: LOW, max: HIGH }),
});

/** Names words one after the other, so that each is there once. */
class Words {
  #count = 0;

  take(length: number): string[] {
    return Array.from({ length }, () => {
      this.#count += 1;
      return `w${this.#count}o`;
    });
  }

  get all(): string[] {
    return Array.from({ length: this.#count }, (_, at) => `w${at + 1}o`);
  }
}

function textOf(blocks: readonly Block[], words: Words): string {
  const text = blocks.map(({ kind, length }) => {
    const taken = words.take(length);
    if (kind === "words") return taken.join(" ");
    if (kind === "list") return taken.map((word) => `- ${word}`).join("\n");
    return `\`\`\`\n${taken.join("\n")}\n\`\`\``;
  });
  return text.join("\n\n");
}

/** The reports of the agent: each piece of text after a gate, if it comes in pieces. */
class Plan {
  readonly words = new Words();
  readonly gates: Gate[] = [];
  readonly #moments: readonly Moment[];
  readonly #steps: Step[] = [];
  #at = 0;

  constructor(works: readonly Work[], moments: readonly Moment[]) {
    this.#moments = moments;
    for (const [index, each] of works.entries()) this.#add(each, `item-${index}`);
  }

  get script(): Script {
    return this.#steps;
  }

  #add(each: Work, id: string): void {
    if (each.kind === "message") {
      const text = textOf(each.blocks, this.words);
      const item = { type: "agentMessage" as const, id, text };
      this.#emit({ type: "item/started", item: { ...item, text: "" } });
      for (const delta of this.#pieces(text))
        this.#emit({ type: "item/agentMessage/delta", itemId: id, delta });
      this.#emit({ type: "item/completed", item });
      return;
    }
    const output = this.words
      .take(each.lines)
      .map((word) => `${word}\n`)
      .join("");
    const item = { type: "commandExecution" as const, id, command: "make", cwd: "/code" };
    this.#emit({ type: "item/started", item: { ...item, status: "inProgress" } });
    for (const delta of this.#pieces(output))
      this.#emit({ type: "item/commandExecution/outputDelta", itemId: id, delta });
    const ended = { status: "completed" as const, exitCode: 0, aggregatedOutput: output, durationMs: 0 };
    this.#emit({ type: "item/completed", item: { ...item, ...ended } });
  }

  #emit(event: DriverEvent): void {
    this.#steps.push({ emit: event });
  }

  /** Waits before each piece. What is left after the last moment comes at once. */
  *#pieces(text: string): Iterable<string> {
    for (let rest = text; rest !== ""; ) {
      const next = this.#moments[this.#at];
      this.#at += 1;
      if (next !== undefined) {
        const gate = new Gate();
        this.gates.push(gate);
        this.#steps.push({ wait: gate });
      }
      const length = next?.characters ?? rest.length;
      yield rest.slice(0, length);
      rest = rest.slice(length);
    }
  }
}

/** The text of a terminal at the end, and that with everything above it. */
interface Played {
  readonly screen: string;
  readonly everything: string;
}

/** Plays it in a session, with a size of the terminal for each piece. */
async function play(plan: Plan, height: number, sizes: readonly Moment[] = []): Promise<Played> {
  const session = await SessionFixture.open({ columns: COLUMNS, rows: height, scripts: [plan.script] });
  await session.keys("go", ENTER);
  for (const [index, gate] of plan.gates.entries()) {
    const { columns = COLUMNS, rows = height } = session.terminal.size;
    const size = sizes[index];
    if (size !== undefined) session.terminal.resize(size.columns ?? columns, size.rows ?? rows);
    // The gate may open before the new size is drawn, or after.
    if (index % 2 === 0) await session.settle(60);
    gate.open();
    await session.settle(60);
  }
  await session.settle();
  const { everything, screen } = session.terminal;
  session.app.close(0);
  await session.terminal.drawn();
  return { everything, screen: screen.join("\n") };
}

/** Plays it in a session that is cut off before one of the pieces, and attaches another one before another. */
async function attach(plan: Plan, cutAt: number, attachAt: number): Promise<readonly string[]> {
  const first = await SessionFixture.open({ columns: COLUMNS, rows: LOW, scripts: [plan.script] });
  await first.keys("go", ENTER);
  const sessions = [first];
  const { engine } = first;
  const findThread = async ({ client }: SessionServer) => (await client.listThreads()).data[0]?.id ?? "";
  for (const [index, gate] of [...plan.gates, new Gate()].entries()) {
    if (index === attachAt % (plan.gates.length + 1))
      sessions.push(
        await SessionFixture.open({ columns: COLUMNS, rows: LOW, engine, start: { findThread } }),
      );
    if (index === cutAt % (plan.gates.length + 1)) {
      await first.cut();
      await first.settle(1_000);
    }
    gate.open();
    await first.settle(60);
  }
  await first.settle();
  await sessions[1]?.settle();
  for (const { app, terminal } of sessions) {
    app.close(0);
    await terminal.drawn();
  }
  return sessions.map(({ terminal }) => terminal.everything);
}

/** Its last line of code is live when the terminal becomes so narrow that the row below the composer is wrapped, too. */
const ROW_WRAPPED_BELOW: Work[] = [
  {
    kind: "message",
    blocks: [
      { kind: "code", length: 13 },
      { kind: "words", length: 1 },
    ],
  },
];

const works = fc.array(work, { minLength: 1, maxLength: 4 });
const moments = fc.array(moment, { maxLength: 12 });

test("however deltas are cut, the screen and its scrollback end as if everything was drawn once [S0-102]", async () => {
  await fc.assert(
    fc.asyncProperty(works, moments, async (each, cuts) => {
      const once = await play(new Plan(each, []), LOW);
      expect((await play(new Plan(each, cuts), LOW)).everything).toBe(once.everything);
    }),
    { numRuns: 10 },
  );
});

test("whatever the sizes of the terminal in between, each word is printed once and in order [S0-102]", async () => {
  await fc.assert(
    fc.asyncProperty(works, moments, async (each, sizes) => {
      const plan = new Plan(each, sizes);
      const { everything } = await play(plan, HIGH, sizes);
      expect(everything.match(/w\d+o/g) ?? []).toEqual(plan.words.all);
      expect(everything.split("Ask for something").length - 1).toBe(1);
    }),
    { numRuns: 10, examples: [[ROW_WRAPPED_BELOW, [{ characters: 63 }, { characters: 1, columns: 24 }]]] },
  );
});

test("even if sizes push live rows into the scrollback, no word is lost and the screen has one composer [S0-102]", async () => {
  await fc.assert(
    fc.asyncProperty(works, fc.array(anySize, { maxLength: 12 }), async (each, sizes) => {
      const plan = new Plan(each, sizes);
      const { everything, screen } = await play(plan, HIGH, sizes);
      const found: readonly string[] = everything.match(/w\d+o/g) ?? [];
      expect(plan.words.all.filter((word) => !found.includes(word))).toEqual([]);
      expect(screen.split("Ask for something").length - 1).toBe(1);
    }),
    { numRuns: 10 },
  );
});

test("wherever a session attaches, or connects again, each word is printed once and in order [S0-102]", async () => {
  const place = fc.nat({ max: 12 });
  await fc.assert(
    fc.asyncProperty(works, moments, place, place, async (each, cuts, cutAt, attachAt) => {
      const plan = new Plan(each, cuts);
      for (const everything of await attach(plan, cutAt, attachAt))
        expect(everything.match(/w\d+o/g) ?? []).toEqual(plan.words.all);
    }),
    { numRuns: 10 },
  );
});
