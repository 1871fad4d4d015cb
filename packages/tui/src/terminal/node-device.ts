import { readlinkSync } from "node:fs";
import type { ReadStream, WriteStream } from "node:tty";
import type { TerminalSize } from "../draw/render-options.ts";
import { CookedInput } from "./cooked-input.ts";
import type { DeviceListener, TerminalDevice } from "./device.ts";

/** A program that still runs after this long was not stopped, or has been continued. */
const STOPPED_MS = 100;

/** The terminal of this process. */
export class NodeDevice implements TerminalDevice {
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #cooked = new CookedInput();
  #typed: readonly Uint8Array[];
  #listener: DeviceListener | undefined;
  #isSuspended = false;

  /** `typed` is what was read before the session began. */
  constructor(input: ReadStream, output: WriteStream, typed: readonly Uint8Array[] = []) {
    this.#input = input;
    this.#output = output;
    this.#typed = typed;
    // A terminal that was closed cannot be written to; reading says so too.
    output.on("error", this.#onEnd);
  }

  get name(): string | undefined {
    // Expected: a system without /proc.
    try {
      return readlinkSync("/proc/self/fd/0");
    } catch {
      return undefined;
    }
  }

  get size(): TerminalSize {
    return this.#output;
  }

  write(text: string): void {
    this.#output.write(text);
  }

  listen(listener: DeviceListener): void {
    this.#listener = listener;
    this.#enterRawMode();
    this.#input.on("data", this.#onData);
    this.#input.on("end", this.#onEnd);
    this.#input.on("error", this.#onEnd);
    this.#output.on("resize", this.#onResize);
    process.on("SIGCONT", this.#onContinue);
    this.#input.resume();
    const typed = this.#typed;
    this.#typed = [];
    for (const bytes of typed) listener.input(bytes);
  }

  release(): void {
    this.#input.off("data", this.#onData);
    this.#input.off("end", this.#onEnd);
    this.#input.off("error", this.#onEnd);
    this.#output.off("resize", this.#onResize);
    process.off("SIGCONT", this.#onContinue);
    this.#input.pause();
    try {
      this.#input.setRawMode(false);
    } catch {
      // The terminal is gone, and its mode with it.
    }
  }

  suspend(): void {
    this.#input.setRawMode(false);
    this.#isSuspended = true;
    process.kill(0, "SIGTSTP");
    // Without a shell that could continue it, such as in a window of its own, the system stops no program.
    setTimeout(() => {
      if (this.#isSuspended) this.#onContinue();
    }, STOPPED_MS);
  }

  #enterRawMode(): void {
    if (!this.#input.isRaw) this.#cooked.rawBegins();
    this.#input.setRawMode(true);
  }

  readonly #onData = (bytes: Buffer): void => this.#listener?.input(this.#cooked.read(bytes));
  readonly #onEnd = (): void => this.#listener?.ended();
  readonly #onResize = (): void => this.#listener?.resized();

  readonly #onContinue = (): void => {
    this.#isSuspended = false;
    // The shell has changed the mode, whatever was set before.
    this.#input.setRawMode(false);
    this.#enterRawMode();
    this.#listener?.continued();
  };
}
