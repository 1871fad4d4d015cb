import type { Context } from "./context.ts";

/** One thing that was measured. With a line it is a promise: the value must not be above it. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: "ms" | "MB" | "";
  readonly line?: number;
}

/** Everything that a case measured. */
export type Measurements = readonly Figure[];

/** One safety case: provokes what it names against real servers, asserts what must hold, and says what it measured. */
export interface TortureCase {
  readonly id: `P${number}`;
  readonly title: string;
  run(context: Context): Promise<Measurements>;
}

/** Thrown by a case that this machine cannot run; the message says why. */
export class SkippedCase extends Error {
  /** The part of the machine that is missing, as FLINT_TEST_REQUIRE would name it. */
  readonly part: string;

  constructor(part: string, reason: string) {
    super(reason);
    this.name = "SkippedCase";
    this.part = part;
  }
}
