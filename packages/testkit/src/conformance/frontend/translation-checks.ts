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
import { arbitraryOf, eventsOf, type Schema } from "../arbitraries.ts";

/** A call of the core, as far as the suite looks at it. */
export interface CheckedCall {
  readonly method: string;
  readonly params: object;
}

/** The translation of a request: a call of the core, and the answer from its result. */
export interface CheckedRequest extends CheckedCall {
  answer(result: never): unknown;
}

/** The parts of an event's translation that the suite checks. */
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

/** The translators of a front end, as far as the suite looks at them. */
export interface CheckedTables {
  readonly vocabulary: Vocabulary;
  /** The table that maps requests to calls of the core, if there is one. */
  readonly requests?: object;
  events(event: ThreadEvent): readonly CheckedMessage[];
}

/** Answers of a client by the method of the request to it. */
export type AnswerSamples = Readonly<Record<string, readonly unknown[]>>;

// A fixed seed: a suite that fails does so every time, and for everyone.
const RUNS = { seed: 20_300_101, numRuns: 100, includeErrorInReport: true } as const;

/** Throws unless every event of this type becomes valid messages, without being changed, the same way each time. */
export function checkEvents(
  tables: CheckedTables,
  type: EventType,
  further: readonly ThreadEvent[] = [],
): void {
  const examples = further.filter((event) => event.type === type).map((event): [ThreadEvent] => [event]);
  fc.assert(
    fc.property(eventsOf(type), (event) => checkEvent(tables, event)),
    { ...RUNS, examples },
  );
}

function checkEvent(tables: CheckedTables, event: ThreadEvent): void {
  const messages = tables.events(deepFrozen(event));
  for (const message of messages)
    if (message.kind !== "resolved") checkMessage(tables.vocabulary, event, message);
  const again = JSON.stringify(tables.events(event));
  if (again !== JSON.stringify(messages)) throw new Error("the translation differs the second time");
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
    throw new Error(`${message.method} is not a message of the ${vocabulary.name} protocol`);
  }
}

/** Throws if an agent's own notification can be sent under a name of this protocol. */
export function checkExtensions(tables: CheckedTables): void {
  const { serverNotifications, serverRequests } = tables.vocabulary;
  const ours = [...Object.keys(serverNotifications), ...Object.keys(serverRequests)];
  for (const method of ours) {
    const data = { threadId: "thread", method, params: { forged: true } };
    const messages = tables.events({ type: "extension/notified", data, at: 0 });
    const forged = messages.find((message) => message.kind !== "resolved" && message.method === method);
    if (forged !== undefined) throw new Error(`an agent can send ${method} as if Flint did`);
  }
}

/** Translators with a table of requests. */
type WithRequests = CheckedTables & { readonly requests: object };

/** Throws unless there is a call for every request of the protocol, and none besides. */
export function checkRequestNames(tables: WithRequests): void {
  const requests = Object.keys(tables.vocabulary.requests).sort();
  const rows = Object.keys(tables.requests).sort();
  const missing = requests.filter((name) => !rows.includes(name));
  const unknown = rows.filter((name) => !requests.includes(name));
  if (missing.length > 0) throw new Error(`no call for ${missing.join(", ")}`);
  if (unknown.length > 0) throw new Error(`a call for what is not a request: ${unknown.join(", ")}`);
}

/**
 * Throws unless every valid request becomes a valid call of the core, or a FlintError, and every result of that call a
 * valid answer.
 */
export function checkRequest(tables: WithRequests, name: string, further: readonly unknown[] = []): void {
  const row = tables.vocabulary.requests[name];
  const translate: unknown = Reflect.get(tables.requests, name);
  if (row === undefined || typeof translate !== "function") throw new Error(`no call for ${name}`);
  let accepted = 0;
  fc.assert(
    fc.property(arbitraryOf(row.params, "input"), fc.integer(), (params, seed) =>
      orRejected(() => {
        // A row of the table; what it returns is checked on the next line.
        const call = translate(deepFrozen(row.params.parse(params))) as CheckedRequest;
        const result = resultFor(checkCall(call), seed);
        accepted += 1;
        checkAgainst(row.result, answerOf(call, result), `the answer to ${name}`);
      }),
    ),
    { ...RUNS, examples: further.map((params): [unknown, number] => [params, 0]) },
  );
  if (accepted === 0)
    throw new Error(`every generated ${name} was rejected; give a sample of one that is not`);
}

/** A request may be well formed and still name what cannot exist; then it is rejected with a FlintError. */
function orRejected(check: () => void): void {
  try {
    check();
  } catch (error) {
    // Anything else that is thrown is a fault.
    if (!(error instanceof FlintError)) throw error;
  }
}

function checkCall<Call extends CheckedCall>(call: Call): Call {
  if (!isMethod(call.method)) throw new Error(`${call.method} is not a method of the core`);
  checkAgainst(METHODS[call.method].params, call.params, `the params of the core call ${call.method}`);
  return call;
}

function resultFor(call: CheckedCall, seed: number): unknown {
  if (!isMethod(call.method)) throw new Error(`${call.method} is not a method of the core`);
  const [result] = fc.sample(arbitraryOf(METHODS[call.method].result, "output"), { seed, numRuns: 1 });
  return result;
}

function answerOf(call: CheckedRequest, result: unknown): unknown {
  // The result was made from the schema of the call's own method.
  const typed = deepFrozen(result) as never;
  return call.answer(typed);
}

/** Throws unless each kind of error has a code in this protocol. */
export function checkErrorCodes({ vocabulary }: CheckedTables): void {
  for (const kind of Object.keys(ERROR_KINDS)) {
    const code: unknown = Reflect.get(vocabulary.errorCodes, kind);
    if (!Number.isInteger(code)) throw new Error(`${kind} has no code in the ${vocabulary.name} protocol`);
  }
}

/** Throws if what is asked is not resolved, under the same key, when it has its answer. */
export function checkResolving(tables: CheckedTables): void {
  const pairs = [
    fc.tuple(eventsOf("approval/requested"), eventsOf("approval/resolved")),
    fc.tuple(eventsOf("question/requested"), eventsOf("question/resolved")),
    fc.tuple(eventsOf("tool/requested"), eventsOf("tool/resolved")),
  ];
  fc.assert(
    fc.property(fc.oneof(...pairs), ([requested, resolved]) => {
      const resolvedKeys = keysResolvedBy(tables, answerTo(requested, resolved));
      for (const message of tables.events(requested)) {
        if (message.kind !== "ask" || resolvedKeys.includes(message.key)) continue;
        throw new Error(`${message.method} stays open when it has its answer`);
      }
    }),
    RUNS,
  );
}

function keysResolvedBy(tables: CheckedTables, event: ThreadEvent): string[] {
  return tables.events(event).flatMap((message) => (message.kind === "resolved" ? [message.key] : []));
}

/** A resolved event that answers this request. */
export function answerTo(requested: ThreadEvent, resolved: ThreadEvent): ThreadEvent {
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

/** Throws if a malformed answer, a denial or no answer at all could be taken for consent. */
export function checkJunkAnswers(
  tables: CheckedTables,
  consents: AnswerSamples = {},
  refusals: AnswerSamples = {},
): void {
  const asked = fc.oneof(eventsOf("approval/requested"), eventsOf("question/requested"));
  fc.assert(
    fc.property(asked, junkLike(Object.values(consents).flat()), (event, junk) => {
      for (const message of tables.events(event)) {
        if (message.kind !== "ask") continue;
        const isAnswer =
          tables.vocabulary.serverRequests[message.method]?.result.safeParse(junk).success ?? false;
        if (!isAnswer) denies(message.answered(junk), `answered with ${JSON.stringify(junk)}`);
        for (const refusal of refusals[message.method] ?? []) {
          denies(message.answered(refusal), `answered with ${JSON.stringify(refusal)}`);
        }
        denies(message.refused("No client is here to answer."), "refused");
      }
    }),
    { ...RUNS, numRuns: 500 },
  );
}

/** Throws unless answers that consent are taken for consent. */
export function checkConsents(tables: CheckedTables, consents: AnswerSamples): void {
  const seen = new Set<string>();
  fc.assert(
    fc.property(eventsOf("approval/requested"), (event) => {
      for (const message of tables.events(event)) {
        if (message.kind !== "ask") continue;
        seen.add(message.method);
        for (const consent of consents[message.method] ?? []) {
          if (!allows(checkCall(message.answered(consent)))) {
            throw new Error(`${message.method} takes ${JSON.stringify(consent)} for a denial`);
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
  if (allows(checkCall(call))) throw new Error(`an ask that is ${how} becomes consent`);
}

function allows({ method, params }: CheckedCall): boolean {
  if (method !== "approval/respond") return false;
  const decision: unknown = Reflect.get(params, "decision");
  return typeof decision === "object" && decision !== null && Reflect.get(decision, "outcome") === "allow";
}

/** Anything at all, and values that nearly consent. */
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

/** Checks a value against a schema as JSON, as the other side would see it. */
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
