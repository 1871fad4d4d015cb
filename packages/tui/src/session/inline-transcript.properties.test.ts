import { emptyThread, type ThreadItem, type ThreadState, type Turn } from "@flint/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { textOf } from "../draw/line.ts";
import { InlineTranscript } from "./inline-transcript.ts";

const words = fc.stringMatching(/^[a-z \n*`#-]{0,60}$/);
const item = fc.oneof(
  words.map((text) => ({ type: "agentMessage" as const, text })),
  fc.record({ type: fc.constant("commandExecution" as const), text: words }),
);

function itemOf({ type, text }: { type: string; text: string }, id: string, share: number): ThreadItem {
  const isDone = share === 1;
  const shown = text.slice(0, Math.floor(text.length * share));
  if (type === "agentMessage") return { type, id, text: shown };
  const status = isDone ? "completed" : "inProgress";
  return { type: "commandExecution", id, command: "make", cwd: "/", status, aggregatedOutput: shown };
}

function stateOf(
  items: readonly { type: string; text: string }[],
  shares: readonly number[],
  isOver: boolean,
): ThreadState {
  const shown = items.flatMap((each, index) => {
    const share = shares[index] ?? 0;
    return share === 0 ? [] : [itemOf(each, `item-${index}`, share)];
  });
  const turn: Turn = { id: "turn", status: isOver ? "completed" : "inProgress", items: shown };
  const openItemIds = items.flatMap((_, index) => ((shares[index] ?? 0) < 1 ? [`item-${index}`] : []));
  return { ...emptyThread("thread"), turns: [turn], activeTurnId: isOver ? undefined : "turn", openItemIds };
}

function transcript(columns: () => number) {
  const look = () => ({ columns: columns(), rows: 24, colour: false, unicode: true });
  return new InlineTranscript({ look, now: () => 0 });
}

/** The words without where lines were broken, which a resize changes for later rows. */
function joined(rows: readonly string[]): string {
  // A rule is as long as the terminal is wide.
  return rows.join(" ").replace(/─+/g, "─").replace(/\s+/g, " ").trim();
}

test("however an answer is cut into pieces, its final rows are the same as when it is drawn once [S0-102]", () => {
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1, maxLength: 5 }),
      fc.array(fc.array(fc.constantFrom(0.2, 0.5, 0.8, 1), { minLength: 5, maxLength: 5 }), { maxLength: 6 }),
      fc.array(fc.integer({ min: 20, max: 120 }), { minLength: 1, maxLength: 7 }),
      fc.boolean(),
      (items, steps, widths, resizes) => {
        const all = items.map(() => 1);
        const once = transcript(() => 80)
          .take(stateOf(items, all, true))
          .final.map(textOf);
        let width = 80;
        const streamed = transcript(() => width);
        const rows: string[] = [];
        let reached = items.map(() => 0);
        for (const [index, step] of [...steps, all].entries()) {
          if (resizes) width = widths[index % widths.length] ?? 80;
          reached = reached.map((share, at) => Math.max(share, step[at] ?? 1));
          rows.push(...streamed.take(stateOf(items, reached, false)).final.map(textOf));
        }
        rows.push(...streamed.take(stateOf(items, all, true)).final.map(textOf));
        if (resizes) expect(joined(rows)).toBe(joined(once));
        else expect(rows).toEqual(once);
      },
    ),
    { numRuns: 300 },
  );
});
