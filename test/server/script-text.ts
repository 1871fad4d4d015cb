import type { DriverEvent } from "@flint/core/ports";
import { mintId } from "@flint/protocol";
import { Gate, type Script, type Step } from "../../packages/testkit/src/scripted/script.ts";

/** A step that waits for the test cannot come over a wire; these take its place there, beside the plain steps. */
export type WireStep =
  | Exclude<Step, { readonly wait: Gate } | { readonly throws: Error }>
  /** Ends the turn by a rejection with this message. */
  | { readonly throws: string }
  /** Waits this long, or until the turn is to stop. */
  | { readonly pauseMs: number }
  /** Says "0 1 2 ", one word a delta, and waits after each of them. */
  | { readonly words: number; readonly everyMs: number }
  /** Prints to the standard output of the server, as a careless library would. */
  | { readonly print: string };

/** Returns one turn of the scripted server, as the text of a prompt. */
export function scriptText(...steps: readonly WireStep[]): string {
  return JSON.stringify(steps);
}

/** The text that a step of so many words adds up to. */
export function wordsText(words: number): string {
  return Array.from({ length: words }, (_, place) => `${place} `).join("");
}

/** The script that a prompt asks for. Text that is not a script is echoed. */
export function readScript(text: string): Script {
  if (!text.startsWith("[")) return [{ text: `You said: ${text}` }];
  // Prompts for the scripted server are written with `scriptText`.
  const steps = JSON.parse(text) as readonly WireStep[];
  return steps.flatMap(plainSteps);
}

function plainSteps(step: WireStep): readonly Step[] {
  if ("pauseMs" in step) return [{ wait: new PausingGate(step.pauseMs) }];
  if ("words" in step) return wordSteps(step.words, step.everyMs);
  if ("print" in step) return [{ wait: new PrintingGate(step.print) }];
  if ("throws" in step) return [{ throws: new Error(step.throws) }];
  return [step];
}

function wordSteps(words: number, everyMs: number): Step[] {
  const item = { type: "agentMessage", id: mintId(), text: "" } as const;
  const steps: Step[] = [{ emit: { type: "item/started", item } }];
  for (let place = 0; place < words; place += 1) {
    const event: DriverEvent = { type: "item/agentMessage/delta", itemId: item.id, delta: `${place} ` };
    steps.push({ emit: event }, { wait: new PausingGate(everyMs) });
  }
  steps.push({ emit: { type: "item/completed", item: { ...item, text: wordsText(words) } } });
  return steps;
}

/** Opens automatically some time after it is reached. */
class PausingGate extends Gate {
  readonly #milliseconds: number;

  constructor(milliseconds: number) {
    super();
    this.#milliseconds = milliseconds;
  }

  override wait(): Promise<void> {
    setTimeout(() => this.open(), this.#milliseconds);
    return super.wait();
  }
}

/** Prints when it is reached. */
class PrintingGate extends Gate {
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = text;
  }

  override wait(): Promise<void> {
    console.log(this.#text);
    process.stdout.write(`${this.#text}\n`);
    this.open();
    return super.wait();
  }
}
