import type { ThreadEvent } from "@flint/protocol";
import { describe, test } from "vitest";
import { EVENT_TYPES } from "./arbitraries.ts";
import {
  type AnswerSamples,
  type CheckedDialect,
  checkConsents,
  checkErrorCodes,
  checkEvents,
  checkExtensions,
  checkJunkAnswers,
  checkRequest,
  checkRequestNames,
  checkSettling,
} from "./dialect-checks.ts";

/** What only the author of a dialect can know. */
export interface DialectSamples {
  /** Answers that mean yes, by the name of what the client is asked; needed for each approval that asks. */
  readonly consents?: AnswerSamples;
  /** Answers that mean no, likewise. */
  readonly refusals?: AnswerSamples;
  /** Params by request that deserve a try besides the made up ones. */
  readonly requests?: Readonly<Record<string, readonly unknown[]>>;
  /** Events that deserve a try besides the made up ones. */
  readonly events?: readonly ThreadEvent[];
}

/** One suite for every front door: it knows all events and requests, speaks only its own words, and needs a plain yes. */
export function describeDialect(name: string, dialect: CheckedDialect, samples: DialectSamples = {}): void {
  describe(`${name}, as any dialect`, () => {
    test.each(EVENT_TYPES)("turns %s into its own words, with valid params", (type) =>
      checkEvents(dialect, type, samples.events),
    );
    test("does not let an agent speak in its name", () => checkExtensions(dialect));
    test("has a call for each of its requests", () => checkRequestNames(dialect));
    test.each(Object.keys(dialect.vocabulary.requests))(
      "turns %s into a valid call and a valid answer",
      (request) => checkRequest(dialect, request, samples.requests?.[request]),
    );
    test("has a number for each kind of error", () => checkErrorCodes(dialect));
    test("settles what it asked", () => checkSettling(dialect));
    test("understands consent", () => checkConsents(dialect, samples.consents ?? {}));
    test("never takes for consent what is not", () =>
      checkJunkAnswers(dialect, samples.consents, samples.refusals));
  });
}
