import type { FrontendName } from "@flint/server/frontends";
import type { TestContext } from "./test-context.ts";

/** One thing that a server must do, as a sentence, and how to test it. */
export interface Check {
  readonly name: string;
  /** Resolves if the server does it. Throws `Failed` if it does not, and `NotOffered` if it cannot be tested. */
  run(trial: TestContext): Promise<void>;
}

/** Checks of one area. */
export interface CheckGroup {
  readonly about: string;
  readonly checks: readonly Check[];
}

/** All checks of one protocol. */
export interface Suite {
  readonly protocol: FrontendName;
  /** Whether messages of this protocol carry `"jsonrpc": "2.0"`. */
  readonly header: boolean;
  readonly groups: readonly CheckGroup[];
  /** How two servers of this protocol may differ. */
  readonly tolerances: Tolerances;
}

/** Differences that no client notices. */
export interface Tolerances {
  /** Messages that may be there or not; by prefix of their name. */
  readonly optionalMessages: readonly string[];
  /** Messages that have an order only among themselves, because they come from another task; by prefix of their name. */
  readonly unordered: readonly string[];
  /** What is compared of an error: its code and first words, or only that there is one. */
  readonly errors: "words" | "fact";
  /** Fields that may be missing, as `KIND.field.field`; `*` stands for any kind. */
  readonly optionalFields: readonly string[];
}
