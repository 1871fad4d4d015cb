import type { TurnFrame } from "./turn.ts";

/** How much of it waits for a turn; more than this only comes if there is none to be had. */
const MOST_FRAMES = 5_000;

/** What Claude does by itself, from its first frame until there is a turn to show it in. */
export class UnaskedFrames {
  readonly #frames: TurnFrame[] = [];

  /** Whether a frame is the beginning of work: Claude says once for each turn, at its start, what it works with. */
  static isBegunBy(frame: TurnFrame): boolean {
    return frame.type === "system" && frame.subtype === "init";
  }

  get frames(): readonly TurnFrame[] {
    return this.#frames;
  }

  /** False if there is no room for more. */
  add(frame: TurnFrame): boolean {
    if (this.#frames.length >= MOST_FRAMES) return false;
    this.#frames.push(frame);
    return true;
  }
}
