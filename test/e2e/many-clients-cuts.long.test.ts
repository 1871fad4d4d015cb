import { Gate, type Script } from "@flint/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Fields } from "../../packages/frontends/src/testing/client-scripts.ts";
import { startSharedServer, type TestUser } from "./clients/many-clients.ts";
import {
  socketConnection,
  ThreadSubscriber,
  webSocketConnection,
} from "./clients/many-clients-subscriber.ts";

const OUTPUT = Array.from({ length: 30 }, (_, number) => `line ${number} of what was made\n`);

/** The steps of the agent between two gates. */
const STEPS: Script = [
  { reasoning: "let me think about that for a moment", pieces: 12 },
  { command: "make all", startsFirst: true, output: OUTPUT },
  { text: "then I look at what became of it", pieces: 8 },
  { command: "make check", output: OUTPUT },
  { deltas: 60, size: 40 },
  { usage: { inputTokens: 70, outputTokens: 30 } },
  { command: "make docs", asks: false, output: OUTPUT },
];

/** Number of them that ask. */
const QUESTIONS = 2;

/** The steps with a gate before each, and then a command that begins and asks. */
function gatedTurn() {
  const gates = STEPS.map(() => new Gate());
  const gated = STEPS.flatMap((step, index) => [{ wait: gates[index] ?? new Gate() }, step]);
  const install = { command: "make install", startsFirst: true, output: OUTPUT };
  return { gates, script: [...gated, install, { text: "over" }] };
}

/** Accepts this many requests, and returns the one after them. */
async function yesTo(count: number, user: TestUser): Promise<Fields> {
  let question = await user.question();
  for (let answered = 0; answered < count; answered += 1) {
    await user.answer(question, true);
    question = await user.question(user.wire.messages.indexOf(question) + 1);
  }
  return question;
}

/** Returns the parts of the state that are the same at every moment; live events get their number later. */
function shown({ thread, turns, approvals, openItemIds, usage }: ThreadSubscriber["state"]) {
  return { thread, turns, approvals, openItemIds, usage };
}

const PATIENCE = { timeout: 15_000, interval: 10 };

const CUTS = fc.record({
  bytes: fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: STEPS.length, maxLength: STEPS.length }),
  overSocket: fc.boolean(),
});

test("a client that loses its connection at any byte and reconnects has exactly the state of one that did not", async () => {
  const property = fc.asyncProperty(CUTS, async ({ bytes, overSocket }) => {
    const { gates, script } = gatedTurn();
    const { server, user } = await startSharedServer({ scripts: [script] });
    const starter = await user("flint");
    const threadId = await starter.startThread();
    const steady = new ThreadSubscriber(threadId, () => webSocketConnection(server));
    const cut = new ThreadSubscriber(threadId, () =>
      overSocket ? socketConnection(server) : webSocketConnection(server),
    );
    await Promise.all([steady.attach(), cut.attach()]);
    const lastQuestion = yesTo(QUESTIONS, starter);
    await starter.prompt(threadId, "go");
    for (const [index, gate] of gates.entries()) {
      await gate.reached;
      cut.disconnectAfter(bytes[index] ?? 1);
      gate.open();
      await (gates[index + 1]?.reached ?? lastQuestion);
      await cut.received();
      await cut.disconnect();
      await cut.attach();
    }
    await expect.poll(() => steady.state.approvals, PATIENCE).toHaveLength(1);
    await expect.poll(() => shown(cut.state), PATIENCE).toEqual(shown(steady.state));
    await starter.answer(await lastQuestion, true);
    await expect.poll(() => steady.state.turns.at(-1)?.status, PATIENCE).toBe("completed");
    await expect.poll(() => cut.state, PATIENCE).toEqual(steady.state);
    expect([cut.wasTruncated, steady.wasTruncated]).toEqual([false, false]);
  });
  await fc.assert(property, { seed: 20_250_101, numRuns: 25 });
});
