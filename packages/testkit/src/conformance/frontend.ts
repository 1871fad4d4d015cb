import type { ThreadEvent } from "@flint/protocol";
import { describe, test } from "vitest";
import { EVENT_TYPES } from "./arbitraries.ts";
import {
  type AnswerSamples,
  type CheckedFrontend,
  checkConsents,
  checkErrorCodes,
  checkEvents,
  checkExtensions,
  checkJunkAnswers,
  checkRequest,
  checkRequestNames,
  checkSettling,
} from "./frontend-checks.ts";

/** What only the author of a frontend can know. */
export interface FrontendSamples {
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
export function describeFrontend(
  name: string,
  frontend: CheckedFrontend,
  samples: FrontendSamples = {},
): void {
  describe(`${name}, as any frontend`, () => {
    test.each(EVENT_TYPES)("turns %s into its own words, with valid params", (type) =>
      checkEvents(frontend, type, samples.events),
    );
    test("does not let an agent speak in its name", () => checkExtensions(frontend));
    test("has a call for each of its requests", () => checkRequestNames(frontend));
    test.each(Object.keys(frontend.vocabulary.requests))(
      "turns %s into a valid call and a valid answer",
      (request) => checkRequest(frontend, request, samples.requests?.[request]),
    );
    test("has a number for each kind of error", () => checkErrorCodes(frontend));
    test("settles what it asked", () => checkSettling(frontend));
    test("understands consent", () => checkConsents(frontend, samples.consents ?? {}));
    test("never takes for consent what is not", () =>
      checkJunkAnswers(frontend, samples.consents, samples.refusals));
  });
}
