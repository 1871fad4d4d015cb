import type { Clock } from "@flint/core/ports";
import type { LineBlock } from "@flint/tui/draw";
import type { Keyboard, KeyListener } from "@flint/tui/terminal";
import {
  type Choice,
  choiceLine,
  helpBlock,
  stepChoice,
  stepTextEntry,
  typingLine,
} from "@flint/tui/terminal";
import type { PromptSurface } from "../output/turn-view.ts";

/** Dependencies of asking questions. */
export interface AskerOptions {
  readonly keyboard: Keyboard;
  readonly surface: PromptSurface;
  readonly clock: Clock;
}

/** A question with a key for each answer. */
export interface Question<Value> {
  readonly about: LineBlock;
  readonly ask: string;
  readonly choices: readonly Choice<Value>[];
  /** The answer that Enter gives. */
  readonly otherwise: Value;
}

/** Keys count once none was pressed for this long, so that nothing typed before the question answers it. */
const QUIET_MS = 250;

/** Asks the user one question at a time. A question that no longer needs an answer is withdrawn. */
export class Asker {
  readonly #options: AskerOptions;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: AskerOptions) {
    this.#options = options;
  }

  /** Runs a sequence of questions without others in between. */
  exclusively<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => {});
    return result;
  }

  /** Shows the question and waits for a key, ignoring pastes; undefined when the question was withdrawn. */
  async choose<Value>(question: Question<Value>, signal: AbortSignal): Promise<Value | undefined> {
    if (signal.aborted) return undefined;
    this.#options.surface.put(question.about);
    return this.#held(signal, (done) => {
      const { surface } = this.#options;
      const choices = choiceLine(question.ask, question.choices);
      surface.prompt(choices);
      return (key, alone) => {
        if (!alone) return;
        const step = stepChoice(question.choices, question.otherwise, key);
        if (step.type === "answered") done(step.value);
        if (step.type !== "help") return;
        surface.put(helpBlock(question.choices));
        surface.prompt(choices);
      };
    });
  }

  /** Waits for a line; undefined when the user cancelled or the question was withdrawn. A secret is not shown. */
  async type(secret: boolean, signal: AbortSignal): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    return this.#held<string | undefined>(signal, (done) => {
      const { surface } = this.#options;
      let typing = { text: "", secret };
      surface.prompt(typingLine(typing));
      return (key) => {
        const next = stepTextEntry(typing, key);
        if ("done" in next) done(next.done);
        else {
          typing = next;
          surface.prompt(typingLine(typing));
        }
      };
    });
  }

  /** Shows something between questions. */
  put(block: LineBlock): void {
    this.#options.surface.put(block);
  }

  async #held<Value>(
    signal: AbortSignal,
    begin: (done: (value: Value) => void) => KeyListener,
  ): Promise<Value | undefined> {
    const { keyboard, surface } = this.#options;
    keyboard.hold();
    try {
      await this.#quiet(signal);
      if (signal.aborted) return undefined;
      return await new Promise<Value | undefined>((resolve) => {
        signal.addEventListener("abort", () => resolve(undefined), { once: true });
        keyboard.listen(begin(resolve));
      });
    } finally {
      keyboard.listen(undefined);
      surface.prompt(undefined);
      keyboard.release();
    }
  }

  /** Resolves once the user has stopped typing: those keys were not meant for this question. */
  #quiet(signal: AbortSignal): Promise<void> {
    const { keyboard, clock } = this.#options;
    return new Promise((resolve) => {
      let cancel = clock.after(QUIET_MS, resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      keyboard.listen(() => {
        cancel();
        cancel = clock.after(QUIET_MS, resolve);
      });
    });
  }
}
