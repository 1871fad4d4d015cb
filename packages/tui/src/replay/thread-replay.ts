import type { Clock } from "@flint/core/ports";
import { emptyThread, reduceThread, type StoredEvent, type ThreadState } from "@flint/protocol";
import { asksOf, describeResolution, duration } from "@flint/view";
import { notice, noticeOf } from "../draw/draw-blocks.ts";
import { drawApproval } from "../draw/draw-row.ts";
import type { Line } from "../draw/line.ts";
import { marksFor, type RenderOptions } from "../draw/render-options.ts";
import { statusLine } from "../draw/turn-status.ts";
import { InlineTranscript } from "../session/inline-transcript.ts";

/** Options of a replay. */
export interface ReplayOptions {
  readonly threadId: string;
  readonly look: () => RenderOptions;
}

const SPINNER_MS = 200;

/** The rows of a session, made again from the log of its thread. */
export class ThreadReplay {
  readonly #options: ReplayOptions;
  readonly #transcript: InlineTranscript;
  #state: ThreadState;
  #at = 0;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#state = emptyThread(options.threadId);
    this.#transcript = new InlineTranscript({ look: options.look, now: () => this.#at });
  }

  /** Applies events without showing the turns in them. */
  skip(events: readonly StoredEvent[]): void {
    this.#state = { ...events.reduce(reduceThread, this.#state), turns: [] };
  }

  /** Applies the next event of the log. */
  add(event: StoredEvent): void {
    const before = this.#state;
    this.#at = Math.max(this.#at, event.at);
    this.#state = reduceThread(before, event);
    const look = this.#options.look();
    const asked = asksOf(this.#state).find(({ id }) => !asksOf(before).some((known) => known.id === id));
    if (asked?.kind === "approval") {
      this.#transcript.put(drawApproval(asked.prompt, look, this.#state.settings.cwd), asked.itemId);
      this.#transcript.saw(asked.itemId);
    }
    const block = event.type === "approval/resolved" ? answerBlock(event, look) : noticeOf(event, look);
    if (block !== undefined) this.#transcript.put(block);
  }

  /** Rows that became final since the last call, and those below them that still change. */
  take(hint: string): { readonly final: Line[]; readonly live: Line[] } {
    const { final, live } = this.#transcript.take(this.#state);
    if (this.#state.activeTurnId === undefined) return { final, live };
    const look = this.#options.look();
    const status = statusLine(
      {
        activity: this.#transcript.activity(this.#state),
        figures: [
          duration(Math.floor(this.#transcript.workedMs(this.#state) / 1000) * 1000).replace(".0s", "s"),
        ],
        ...{ hint, tick: Math.floor(this.#at / SPINNER_MS) },
      },
      look,
    );
    const room = Math.max(0, look.rows - 3);
    return { final, live: [...live.slice(Math.max(0, live.length - room)), [], status] };
  }
}

/** Longer pauses, such as those between two turns, are cut to this. */
const LONGEST_PAUSE_MS = 2_000;

/**
 * Plays events at the pace in which they were stored: `show` is called after each that comes later than the one before.
 * Ends early, without an error, when the signal aborts.
 */
export async function playEvents(
  events: readonly StoredEvent[],
  replay: ThreadReplay,
  { speed, clock, signal, show }: PlayOptions,
): Promise<void> {
  let last = events[0]?.at ?? 0;
  for (const event of events) {
    const pause = Math.min(event.at - last, LONGEST_PAUSE_MS) / speed;
    if (pause > 0) {
      show();
      await waited(pause, clock, signal);
    }
    if (signal.aborted) return;
    last = Math.max(last, event.at);
    replay.add(event);
  }
  show();
}

/** Options for playing events. */
interface PlayOptions {
  /** Speed, as a multiple of the original. */
  readonly speed: number;
  readonly clock: Pick<Clock, "after">;
  readonly signal: AbortSignal;
  /** Draws what is known by now. */
  show(): void;
}

function waited(milliseconds: number, clock: Pick<Clock, "after">, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(milliseconds, done);
    signal.addEventListener("abort", done);
    if (signal.aborted) done();
  });
}

function answerBlock(
  { data: { resolution } }: Extract<StoredEvent, { type: "approval/resolved" }>,
  look: RenderOptions,
) {
  const style = resolution.decision.outcome === "allow" ? "green" : "yellow";
  return notice(marksFor(look.unicode).arrow, style, describeResolution(resolution));
}
