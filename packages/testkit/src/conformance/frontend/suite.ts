import { type EventType, ITEMS, type ItemType, type ThreadEvent } from "@flint/protocol";
import { describe, test } from "vitest";
import { EVENT_TYPES } from "../arbitraries.ts";
import {
  checkAnswerFirst,
  checkBackground,
  checkClose,
  checkEncodeOnce,
  checkErrors,
  checkEventShown,
  checkItemShown,
  checkLateAnswer,
  checkOneAnswer,
  checkWithdrawal,
} from "./live-checks.ts";
import type { CheckedFrontend, FrontendUnderTest } from "./live-frontend.ts";
import {
  type AnswerSamples,
  type CheckedTables,
  checkConsents,
  checkErrorCodes,
  checkEvents,
  checkExtensions,
  checkJunkAnswers,
  checkRequest,
  checkRequestNames,
  checkResolving,
} from "./translation-checks.ts";

/** One suite for every front end: it serves clients as the interface promises. */
export function describeFrontend<F extends CheckedFrontend>(
  name: string,
  frontend: FrontendUnderTest<F>,
): void {
  describe(`${name}, as any front end`, () => {
    test("answers every request once", () => checkOneAnswer(frontend));
    test("rejects unknown methods and malformed params, and serves on", () => checkErrors(frontend));
    test("answers a request before it sends the events that it causes", () => checkAnswerFirst(frontend));
    test("withdraws an approval that another client answered", () => checkWithdrawal(frontend));
    test("takes an answer that comes too late for the next time", () => checkLateAnswer(frontend));
    test("lists and stops the commands that an agent left running", () => checkBackground(frontend));
    test("encodes an event once for all clients", () => checkEncodeOnce(frontend));
    test("forgets a client that has disconnected", () => checkClose(frontend));
    test.each(EVENT_TYPES)("shows %s, or lists it as not shown", (type) => checkEventShown(frontend, type));
    // The keys of the table itself.
    test.each(Object.keys(ITEMS) as ItemType[])("shows items of type %s, or lists it as not shown", (type) =>
      checkItemShown(frontend, type),
    );
  });
}

/** Samples that only the author of a front end can provide. */
export interface TranslationSamples {
  /** Answers that allow, by the method of the request to the client; needed for each that asks for an approval. */
  readonly consents?: AnswerSamples;
  /** Answers that deny, likewise. */
  readonly refusals?: AnswerSamples;
  /** Params by request that are tried besides the generated ones. */
  readonly requests?: Readonly<Record<string, readonly unknown[]>>;
  /** Events that are tried besides the generated ones. */
  readonly events?: readonly ThreadEvent[];
}

/** One suite for every front end with pure translators: valid messages for all events, and nothing but consent allows. */
export function describeTranslation(
  name: string,
  tables: CheckedTables,
  samples: TranslationSamples = {},
): void {
  describe(`${name}, as any translation`, () => {
    test.each(EVENT_TYPES)("turns %s into messages with valid params", (type: EventType) =>
      checkEvents(tables, type, samples.events),
    );
    test("does not let an agent send in its name", () => checkExtensions(tables));
    test("has a code for each kind of error", () => checkErrorCodes(tables));
    test("resolves what it asked", () => checkResolving(tables));
    test("accepts consent", () => checkConsents(tables, samples.consents ?? {}));
    test("takes nothing else for consent", () =>
      checkJunkAnswers(tables, samples.consents, samples.refusals));
    const { requests } = tables;
    if (requests === undefined) return;
    test("has a call for each of its requests", () => checkRequestNames({ ...tables, requests }));
    test.each(Object.keys(tables.vocabulary.requests))(
      "turns %s into a valid call and a valid answer",
      (request) => checkRequest({ ...tables, requests }, request, samples.requests?.[request]),
    );
  });
}
