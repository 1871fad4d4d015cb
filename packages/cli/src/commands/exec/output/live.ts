import type { Clock } from "@flint/core/ports";
import type { AgentEvent } from "@flint/sdk";
import { duration, money, tokens } from "@flint/view";
import type { Line } from "../../../screen/line.ts";
import { LiveRegion } from "../../../screen/live-region.ts";
import { type Look, marksFor } from "../../../screen/look.ts";
import { notice } from "../../../screen/notice.ts";
import { Timeline } from "../../../screen/timeline.ts";
import { statusLine, summaryBlock, type TurnTally } from "../../../screen/turn-status.ts";
import { type LineBlock, wrapLine } from "../../../screen/wrap.ts";
import type { PromptSurface, TurnView, ViewEnd } from "./turn-view.ts";

/** What a live view works with. */
export interface LiveOptions {
  readonly write: (text: string) => void;
  readonly look: () => Look;
  readonly clock: Clock;
  readonly cwd: string;
  readonly tally: TurnTally;
  /** What the user can do meanwhile. */
  readonly hint: string;
}

/** Nobody sees more pictures a second than this makes. */
const FRAME_MS = 33;
const TICK_MS = 100;

/** A turn on a terminal: what has happened scrolls up, what goes on stands at the bottom. */
export class LiveView implements TurnView, PromptSurface {
  readonly #options: LiveOptions;
  readonly #timeline: Timeline;
  readonly #region: LiveRegion;
  readonly #startedAt: number;
  #prompt: Line | undefined;
  #interrupting = false;
  #closed = false;
  #lastDraw = Number.NEGATIVE_INFINITY;
  #cancelDraw: (() => void) | undefined;
  #cancelTick: (() => void) | undefined;

  constructor(options: LiveOptions) {
    const { write, look, clock, cwd } = options;
    this.#options = options;
    this.#timeline = new Timeline({ cwd, look, now: () => clock.now() });
    this.#region = new LiveRegion(write, look);
    this.#startedAt = clock.now();
    this.#tick();
  }

  show(event: AgentEvent): void {
    this.#timeline.show(event);
    this.#drawSoon();
  }

  say(text: string): void {
    this.put(notice(marksFor(this.#options.look().unicode).warning, "yellow", text));
  }

  put(block: LineBlock): void {
    this.#timeline.put(block);
    this.#draw();
  }

  prompt(line: Line | undefined): void {
    this.#prompt = line;
    this.#draw();
  }

  /** The user wants the turn to stop; it takes a moment. */
  interrupting(): void {
    this.#interrupting = true;
    this.#draw();
  }

  /** The terminal has another size, or was used by somebody else: draws again. */
  redraw(): void {
    this.#draw();
  }

  /** Takes the lower end away until something is shown again. */
  pause(): void {
    this.#region.clear();
  }

  end(end: ViewEnd): void {
    this.#timeline.end();
    this.#timeline.put(summaryBlock(end, this.#options.look()));
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTick?.();
    this.#cancelDraw?.();
    this.#timeline.end();
    this.#region.draw(this.#timeline.takeRows(), []);
    this.#region.clear();
  }

  #tick(): void {
    this.#draw();
    this.#cancelTick = this.#options.clock.after(TICK_MS, () => this.#tick());
  }

  /** Many small pieces are drawn together. */
  #drawSoon(): void {
    if (this.#cancelDraw !== undefined || this.#closed) return;
    const wait = this.#lastDraw + FRAME_MS - this.#options.clock.now();
    if (wait <= 0) this.#draw();
    else this.#cancelDraw = this.#options.clock.after(wait, () => this.#draw());
  }

  #draw(): void {
    this.#cancelDraw?.();
    this.#cancelDraw = undefined;
    if (this.#closed) return;
    this.#lastDraw = this.#options.clock.now();
    this.#region.draw(this.#timeline.takeRows(), this.#lowerRows());
  }

  /** What goes on, an empty row, and the status or the question. All of it fits on the screen. */
  #lowerRows(): Line[] {
    const look = this.#options.look();
    const last =
      this.#prompt === undefined
        ? [statusLine(this.#status(), look)]
        : wrapLine(this.#prompt, look.columns - 1, 2).slice(-(look.rows - 1));
    const room = look.rows - 1 - last.length - 1;
    const live = this.#timeline.liveRows(room);
    return [...live, ...(room < 0 ? [] : [[]]), ...last];
  }

  #status() {
    const { clock, tally, hint } = this.#options;
    const now = clock.now();
    const { cost } = tally;
    return {
      activity: this.#interrupting ? "Interrupting" : this.#timeline.activity,
      figures: [
        duration(Math.floor((now - this.#startedAt) / 1000) * 1000).replace(".0s", "s"),
        ...(tally.tokens === 0 ? [] : [tokens(tally.tokens)]),
        ...(cost === undefined ? [] : [money(cost)]),
      ],
      hint: this.#interrupting ? "Ctrl-C again to leave at once" : hint,
      tick: Math.floor(now / TICK_MS),
    };
  }
}
