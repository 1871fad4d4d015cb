import type { Clock } from "@flint/core/ports";
import type { AgentEvent } from "@flint/sdk";
import {
  type Line,
  type LineBlock,
  marksFor,
  notice,
  type RenderOptions,
  statusLine,
  summaryBlock,
  Timeline,
  type TurnTally,
  wrapLine,
} from "@flint/tui/draw";
import { LiveRegion } from "@flint/tui/terminal";
import { duration, money, tokens } from "@flint/view";
import type { PromptSurface, TurnView, ViewEnd } from "./turn-view.ts";

/** Options of a live view. */
export interface LiveOptions {
  readonly write: (text: string) => void;
  readonly look: () => RenderOptions;
  readonly clock: Clock;
  readonly cwd: string;
  readonly tally: TurnTally;
  /** A hint for the status line. */
  readonly hint: string;
  /** A hint at how to see folded content. */
  readonly how?: string | undefined;
}

/** At most about 30 frames per second. */
const FRAME_MS = 33;
const TICK_MS = 100;

/** A turn on a terminal: finished rows scroll up, work in progress stays at the bottom. */
export class LiveView implements TurnView, PromptSurface {
  readonly #options: LiveOptions;
  readonly #timeline: Timeline;
  readonly #region: LiveRegion;
  /** Moved by the time that the user took to answer: that is not the turn's own. */
  #startedAt: number;
  #askedAt: number | undefined;
  #prompt: Line | undefined;
  #interrupting = false;
  #closed = false;
  #lastDraw = Number.NEGATIVE_INFINITY;
  #cancelDraw: (() => void) | undefined;
  #cancelTick: (() => void) | undefined;

  constructor(options: LiveOptions) {
    const { write, look, clock, cwd, how } = options;
    this.#options = options;
    this.#timeline = new Timeline({ cwd, look, now: () => clock.now(), how });
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
    const now = this.#options.clock.now();
    if (line !== undefined) this.#askedAt ??= now;
    else if (this.#askedAt !== undefined) {
      this.#startedAt += now - this.#askedAt;
      this.#askedAt = undefined;
    }
    this.#prompt = line;
    this.#draw();
  }

  /** Shows that the turn is being interrupted. */
  interrupting(): void {
    this.#interrupting = true;
    this.#draw();
  }

  /** Draws again, after a resize or when another program has used the terminal. */
  redraw(): void {
    this.#draw();
  }

  /** Removes the live region until the next draw. */
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

  /** Draws small changes together in one frame. */
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

  /** Work in progress, an empty row, and the status line or the prompt; fits the screen. */
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
      hint: this.#interrupting ? "Ctrl-C again to exit now" : hint,
      tick: Math.floor(now / TICK_MS),
    };
  }
}
