// Draws a thread as a session in the terminal does, and prints what that costs as JSON. With "floor", nothing is drawn.
import { emptyThread, reduceThread, type ThreadEvent, type ThreadState, type Turn } from "@flint/protocol";
import { FrameScheduler } from "../../packages/tui/src/app/frame-scheduler.ts";
import { InlineTranscript } from "../../packages/tui/src/session/inline-transcript.ts";
import { InlineScreen } from "../../packages/tui/src/terminal/inline-screen.ts";
import { waitedForProcessorMs } from "../processes/process-usage.ts";

const [what = "", amount = "1"] = process.argv.slice(2);
const LOOK = { columns: 120, rows: 40, colour: true, unicode: true };
const FRAME_CLOCK = {
  monotonic: () => performance.now(),
  after: (milliseconds: number, action: () => void) => {
    const timer = setTimeout(action, milliseconds);
    return () => clearTimeout(timer);
  },
};
let written = 0;
const screen = new InlineScreen(
  (text) => {
    written += text.length;
  },
  () => LOOK,
);
const transcript = new InlineTranscript({ look: () => LOOK, now: Date.now });

/** The frames of the stream, for keys. */
let drawn: FrameScheduler = new FrameScheduler(FRAME_CLOCK, () => undefined);

function historyOf(items: number): ThreadState {
  const turns: Turn[] = Array.from({ length: items / 10 }, (_, index) => ({
    id: `turn-${index}`,
    status: "completed",
    items: Array.from({ length: 10 }, (__, at) => ({
      type: "agentMessage" as const,
      id: `item-${index}-${at}`,
      text: "Some words of an agent.\n漢字 and 🙂 too.",
    })),
  }));
  return { ...emptyThread("thread"), turns };
}

function attach(): number {
  const state = historyOf(Number(amount));
  const before = process.cpuUsage();
  transcript.begin(state);
  const { final, live } = transcript.take(state);
  screen.draw(final, [...live, []], { row: live.length, column: 0 });
  return cpuSince(before);
}

/** CPU time in milliseconds, which other work of the machine changes less than the time that passes. */
function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** 500 pieces a second below 2,000 lines. Gives the CPU time in milliseconds. */
async function stream(isDrawn: boolean): Promise<number> {
  let state = historyOf(1_000);
  const turn: Turn = {
    id: "live",
    status: "inProgress",
    items: [{ type: "agentMessage", id: "m", text: "" }],
  };
  state = { ...state, turns: [...state.turns, turn], activeTurnId: "live", openItemIds: ["m"] };
  const draw = () => {
    const { final, live } = transcript.take(state);
    screen.draw(final, [...live.slice(-30), []], { row: Math.min(30, live.length), column: 0 });
  };
  const frames = new FrameScheduler(FRAME_CLOCK, draw);
  drawn = frames;
  transcript.begin(state);
  // What is loaded once, such as the lexer, is part of the first frame and not of the stream.
  draw();
  const before = process.cpuUsage();
  let offset = 0;
  for (let count = 0; count < Number(amount); count += 1) {
    const delta = count % 120 === 119 ? "words 漢字\n\n" : count % 12 === 11 ? "words 漢字\n" : "some words ";
    const data = { threadId: "thread", turnId: "live", itemId: "m", delta, offset };
    const event: ThreadEvent = { type: "item/agentMessage/delta", data, at: 0 };
    state = reduceThread(state, event);
    offset += delta.length;
    if (isDrawn) frames.soon();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  frames.stop();
  return cpuSince(before);
}

/**
 * Returns the time that a key waits for its frame while text streams, from the moment it is due: the 99th
 * percentile. Waiting for a processor that other programs had is not counted.
 */
async function echo(): Promise<number> {
  const waits: number[] = [];
  const timer = setInterval(() => {
    const dueAt = performance.now() + 1;
    const waitedBefore = waitedForProcessorMs();
    setTimeout(() => {
      drawn.now();
      const takenByOthers = waitedForProcessorMs() - waitedBefore;
      waits.push(performance.now() - dueAt - takenByOthers);
    }, 1);
  }, 37);
  await stream(true);
  clearInterval(timer);
  waits.sort((one, other) => one - other);
  return waits[Math.floor(waits.length * 0.99)] ?? 0;
}

const value = what === "echo" ? await echo() : what === "attach" ? attach() : await stream(what === "stream");
process.stdout.write(`${JSON.stringify({ value, written })}\n`);
