import {
  ERROR_KINDS,
  type EventType,
  FlintError,
  isMethod,
  METHODS,
  type ThreadEvent,
  type Vocabulary,
} from "@flint/protocol";
import fc from "fast-check";
import { arbitraryOf, eventsOf, type Schema } from "./arbitraries.ts";

/** A call of the core, as far as the suite looks at it. */
export interface CheckedCall {
  readonly method: string;
  readonly params: object;
}

/** What a request becomes: a call of the core, and how its result becomes the answer. */
export interface CheckedRequest extends CheckedCall {
  answer(result: never): unknown;
}

/** What an event becomes at a door, as far as the suite looks at it. */
export type CheckedMessage =
  | { readonly kind: "notification"; readonly method: string; readonly params: object }
  | {
      readonly kind: "ask";
      readonly method: string;
      readonly params: object;
      readonly key: string;
      answered(answer: unknown): CheckedCall;
      refused(message: string): CheckedCall;
    }
  | { readonly kind: "resolved"; readonly key: string };

/** A frontend, as far as the suite looks at it. */
export interface CheckedFrontend {
  readonly vocabulary: Vocabulary;
  readonly requests: object;
  events(event: ThreadEvent): readonly CheckedMessage[];
}

/** Answers of a client by the name of what it is asked, to be known for what they are. */
export type AnswerSamples = Readonly<Record<string, readonly unknown[]>>;

// A fixed seed: a suite that fails does so every time, and for everybody.
const RUNS = { seed: 20_300_101, numRuns: 100, includeErrorInReport: true } as const;

/** Throws unless every event of this type becomes valid messages, without being changed, the same way each time. */
export function checkEvents(
  frontend: CheckedFrontend,
  type: EventType,
  further: readonly ThreadEvent[] = [],
): void {
  const examples = further.filter((event) => event.type === type).map((event): [ThreadEvent] => [event]);
  fc.assert(
    fc.property(eventsOf(type), (event) => checkEvent(frontend, event)),
    { ...RUNS, examples },
  );
}

function checkEvent(frontend: CheckedFrontend, event: ThreadEvent): void {
  const messages = frontend.events(deepFrozen(event));
  for (const message of messages)
    if (message.kind !== "resolved") checkMessage(frontend.vocabulary, event, message);
  const again = JSON.stringify(frontend.events(event));
  if (again !== JSON.stringify(messages)) throw new Error("outbound gives something else the second time");
}

function checkMessage(
  vocabulary: Vocabulary,
  event: ThreadEvent,
  message: Exclude<CheckedMessage, { kind: "resolved" }>,
): void {
  const rows = message.kind === "ask" ? vocabulary.serverRequests : vocabulary.serverNotifications;
  const row = Object.hasOwn(rows, message.method) ? rows[message.method] : undefined;
  if (row !== undefined) checkAgainst(row.params, message.params, `the params of ${message.method}`);
  else if (event.type !== "extension/notified" || message.kind === "ask") {
    throw new Error(`${message.method} is no word of the ${vocabulary.name} wire`);
  }
}

/** Throws if an agent's own notification can go out under a name that this wire gave a meaning. */
export function checkExtensions(frontend: CheckedFrontend): void {
  const { serverNotifications, serverRequests } = frontend.vocabulary;
  const ours = [...Object.keys(serverNotifications), ...Object.keys(serverRequests)];
  for (const method of ours) {
    const data = { threadId: "thread", method, params: { forged: true } };
    const messages = frontend.events({ type: "extension/notified", data, at: 0 });
    const forged = messages.find((message) => message.kind !== "resolved" && message.method === method);
    if (forged !== undefined) throw new Error(`an agent can send ${method} as if Flint did`);
  }
}

/** Throws unless there is a call for every request of the wire, and none besides. */
export function checkRequestNames(frontend: CheckedFrontend): void {
  const requests = Object.keys(frontend.vocabulary.requests).sort();
  const inbound = Object.keys(frontend.requests).sort();
  const missing = requests.filter((name) => !inbound.includes(name));
  const unknown = inbound.filter((name) => !requests.includes(name));
  if (missing.length > 0) throw new Error(`no inbound for ${missing.join(", ")}`);
  if (unknown.length > 0) throw new Error(`inbound for what is no request: ${unknown.join(", ")}`);
}

/**
 * Throws unless every valid request becomes a valid call of the core, or a FlintError, and every result of that call a
 * valid answer.
 */
export function checkRequest(
  frontend: CheckedFrontend,
  name: string,
  further: readonly unknown[] = [],
): void {
  const row = frontend.vocabulary.requests[name];
  const translate: unknown = Reflect.get(frontend.requests, name);
  if (row === undefined || typeof translate !== "function") throw new Error(`no inbound for ${name}`);
  let understood = 0;
  fc.assert(
    fc.property(arbitraryOf(row.params, "input"), fc.integer(), (params, seed) =>
      orRefused(() => {
        // A row of an inbound table; what it gives is checked on the next line.
        const call = translate(deepFrozen(row.params.parse(params))) as CheckedRequest;
        const result = resultFor(checkCall(call), seed);
        understood += 1;
        checkAgainst(row.result, answerOf(call, result), `the answer to ${name}`);
      }),
    ),
    { ...RUNS, examples: further.map((params): [unknown, number] => [params, 0]) },
  );
  if (understood === 0)
    throw new Error(`every made up ${name} was refused; give a sample of one that is not`);
}

/** A request may be well formed and still name what cannot be; then it is refused by name, and that is fine. */
function orRefused(check: () => void): void {
  try {
    check();
  } catch (error) {
    // Everything else that is thrown is a finding.
    if (!(error instanceof FlintError)) throw error;
  }
}

function checkCall<Call extends CheckedCall>(call: Call): Call {
  if (!isMethod(call.method)) throw new Error(`${call.method} is no method of the core`);
  checkAgainst(METHODS[call.method].params, call.params, `the params of the core call ${call.method}`);
  return call;
}

function resultFor(call: CheckedCall, seed: number): unknown {
  if (!isMethod(call.method)) throw new Error(`${call.method} is no method of the core`);
  const [result] = fc.sample(arbitraryOf(METHODS[call.method].result, "output"), { seed, numRuns: 1 });
  return result;
}

function answerOf(call: CheckedRequest, result: unknown): unknown {
  // The result was made from the schema of the call's own method.
  const typed = deepFrozen(result) as never;
  return call.answer(typed);
}

/** Throws unless each kind of error has a number on this wire. */
export function checkErrorCodes({ vocabulary }: CheckedFrontend): void {
  for (const kind of Object.keys(ERROR_KINDS)) {
    const code: unknown = Reflect.get(vocabulary.errorCodes, kind);
    if (!Number.isInteger(code)) throw new Error(`${kind} has no number on the ${vocabulary.name} wire`);
  }
}

/** Throws if what is asked is not settled, under the same key, when it has its answer. */
export function checkSettling(frontend: CheckedFrontend): void {
  const pairs = [
    fc.tuple(eventsOf("approval/requested"), eventsOf("approval/resolved")),
    fc.tuple(eventsOf("question/requested"), eventsOf("question/resolved")),
    fc.tuple(eventsOf("tool/requested"), eventsOf("tool/resolved")),
  ];
  fc.assert(
    fc.property(fc.oneof(...pairs), ([requested, resolved]) => {
      const settled = settledKeys(frontend, answerTo(requested, resolved));
      for (const message of frontend.events(requested)) {
        if (message.kind !== "ask" || settled.includes(message.key)) continue;
        throw new Error(`${message.method} stays open when it has its answer`);
      }
    }),
    RUNS,
  );
}

function settledKeys(frontend: CheckedFrontend, event: ThreadEvent): string[] {
  return frontend.events(event).flatMap((message) => (message.kind === "resolved" ? [message.key] : []));
}

function answerTo(requested: ThreadEvent, resolved: ThreadEvent): ThreadEvent {
  if (requested.type === "approval/requested" && resolved.type === "approval/resolved") {
    const { threadId, approval } = requested.data;
    const same = {
      threadId,
      turnId: approval.turnId,
      approvalId: approval.id,
      itemId: approval.action.itemId,
    };
    return { ...resolved, data: { ...resolved.data, ...same } };
  }
  if (requested.type === "question/requested" && resolved.type === "question/resolved") {
    const { threadId, request } = requested.data;
    const same = { threadId, turnId: request.turnId, questionId: request.id, itemId: request.itemId };
    return { ...resolved, data: { ...resolved.data, ...same } };
  }
  if (requested.type === "tool/requested" && resolved.type === "tool/resolved") {
    const { threadId, request } = requested.data;
    const same = { threadId, turnId: request.turnId, callId: request.id, itemId: request.itemId };
    return { ...resolved, data: { ...resolved.data, ...same } };
  }
  throw new Error(`${resolved.type} does not answer ${requested.type}`);
}

/** Throws if an answer that makes no sense, or a plain no, or the absence of an answer could be taken for a yes. */
export function checkJunkAnswers(
  frontend: CheckedFrontend,
  consents: AnswerSamples = {},
  refusals: AnswerSamples = {},
): void {
  const asked = fc.oneof(eventsOf("approval/requested"), eventsOf("question/requested"));
  fc.assert(
    fc.property(asked, junkLike(Object.values(consents).flat()), (event, junk) => {
      for (const message of frontend.events(event)) {
        if (message.kind !== "ask") continue;
        const isAnswer =
          frontend.vocabulary.serverRequests[message.method]?.result.safeParse(junk).success ?? false;
        if (!isAnswer) denies(message.answered(junk), `answered with ${JSON.stringify(junk)}`);
        for (const refusal of refusals[message.method] ?? []) {
          denies(message.answered(refusal), `answered with ${JSON.stringify(refusal)}`);
        }
        denies(message.refused("Nobody is here to answer."), "refused");
      }
    }),
    { ...RUNS, numRuns: 500 },
  );
}

/** Throws unless the answers that mean yes are understood as a yes. */
export function checkConsents(frontend: CheckedFrontend, consents: AnswerSamples): void {
  const seen = new Set<string>();
  fc.assert(
    fc.property(eventsOf("approval/requested"), (event) => {
      for (const message of frontend.events(event)) {
        if (message.kind !== "ask") continue;
        seen.add(message.method);
        for (const consent of consents[message.method] ?? []) {
          if (!allows(checkCall(message.answered(consent)))) {
            throw new Error(`${message.method} takes ${JSON.stringify(consent)} for a no`);
          }
        }
      }
    }),
    RUNS,
  );
  const without = [...seen].filter((method) => (consents[method] ?? []).length === 0);
  if (without.length > 0) throw new Error(`give a sample of a consent for ${without.join(", ")}`);
}

function denies(call: CheckedCall, how: string): void {
  if (allows(checkCall(call))) throw new Error(`an ask that is ${how} becomes a yes`);
}

function allows({ method, params }: CheckedCall): boolean {
  if (method !== "approval/respond") return false;
  const decision: unknown = Reflect.get(params, "decision");
  return typeof decision === "object" && decision !== null && Reflect.get(decision, "outcome") === "allow";
}

/** Anything at all, and things that are nearly one of these. */
function junkLike(consents: readonly unknown[]): fc.Arbitrary<unknown> {
  const polluted: unknown[] = consents.map((consent) =>
    JSON.parse(`{"__proto__":${JSON.stringify(consent)}}`),
  );
  const wrapped = consents.flatMap((consent) => [[consent], { result: consent }, JSON.stringify(consent)]);
  const bent = consents.flatMap((consent) =>
    [true, 1, "yes", "allow", "ACCEPT", "", null, {}].map((leaf) => withLeaves(consent, leaf)),
  );
  return fc.oneof(
    fc.anything(),
    fc.jsonValue(),
    fc.constantFrom<unknown>(undefined, null, {}, true, "accept", "allow", ...polluted, ...wrapped, ...bent),
  );
}

function withLeaves(value: unknown, leaf: unknown): unknown {
  if (Array.isArray(value)) return value.map((part) => withLeaves(part, leaf));
  if (typeof value !== "object" || value === null) return leaf;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withLeaves(part, leaf)]));
}

/** What goes over the wire is JSON, so it is checked as the other side would see it. */
function checkAgainst(schema: Schema, value: unknown, what: string): void {
  const text = JSON.stringify(value);
  const { error } = schema.safeParse(text === undefined ? undefined : JSON.parse(text));
  if (error !== undefined) throw new Error(`invalid: ${what}: ${error.message}`);
}

function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) deepFrozen(part);
  return Object.freeze(value);
}
