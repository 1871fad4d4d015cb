import type { TerminalSize } from "../draw/render-options.ts";

/** Receives the reports of a device. */
export interface DeviceListener {
  /** Bytes that were typed, pasted or answered by the terminal. */
  input(bytes: Uint8Array): void;
  resized(): void;
  /** The program is in the foreground again after it was suspended. */
  continued(): void;
  /** The terminal is gone. */
  ended(): void;
}

/** A terminal as a session uses it: the real one, or one of a test. */
export interface TerminalDevice {
  readonly size: TerminalSize;
  /** The name of the machine's terminal; undefined if it is unknown. */
  readonly name: string | undefined;
  write(text: string): void;
  /** Begins to read raw input. */
  listen(listener: DeviceListener): void;
  /** Stops reading and restores the mode that the terminal had, until `listen` is called again. */
  release(): void;
  /** Stops the program as the shell's job control does, until the user continues it. */
  suspend(): void;
}
