import type { TerminalAnswer } from "../input/index.ts";

const MODE = 1007;
/** The answer of a terminal about a mode that is set and can be changed. */
const SET = 1;

/** Asks whether the terminal sends arrow keys for the wheel of the mouse while the alternate screen is shown. */
export const ASK_WHEEL = `\u001b[?${MODE}$p`;

/** Has the wheel send arrow keys again, as it did before a session. */
export const WHEEL_ON = `\u001b[?${MODE}h`;

const WHEEL_OFF = `\u001b[?${MODE}l`;

/**
 * Keeps the wheel from pressing arrow keys where those do not scroll. It is only turned off in a terminal that has said that
 * it is on, so that the terminal can be left as it was. The mouse stays the terminal's own: it selects text.
 */
export class Wheel {
  readonly #write: (text: string) => void;
  #wasOn = false;
  #isOff = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Reports whether it has to be turned on again. */
  get isOff(): boolean {
    return this.#isOff;
  }

  /** Takes what the terminal says of itself. */
  answered(answer: TerminalAnswer): void {
    if (answer.about === "mode" && answer.mode === MODE) this.#wasOn = answer.state === SET;
  }

  /** Reports whether the wheel may press arrow keys from now on. */
  allow(isAllowed: boolean): void {
    if (isAllowed !== this.#isOff || (!isAllowed && !this.#wasOn)) return;
    this.#isOff = !isAllowed;
    this.#write(isAllowed ? WHEEL_ON : WHEEL_OFF);
  }
}
