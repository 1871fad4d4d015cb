import { setMaxListeners } from "node:events";
import type { Clock } from "@flint/core/ports";
import {
  type AddressBlock,
  allowsEndpoint,
  type Endpoint,
  formatEndpoint,
  type HostRule,
  HostRules,
} from "@flint/protocol";

/** A connection that a command wants. */
export interface ConnectionRequest extends Endpoint {
  /** The command whose token came with the request; undefined if none did. */
  readonly command?: string;
}

/** The reason a connection is refused by a rule or an answer; also what programs see in `x-proxy-error`. */
export type RefusalCode =
  | "blocked-by-denylist"
  | "blocked-by-allowlist"
  | "declined"
  | "unanswered"
  | "too-many-questions";

/** The decision about a connection. The reason is a clause for users. */
export type Decision =
  | { readonly outcome: "allow" }
  | { readonly outcome: "deny"; readonly code: RefusalCode; readonly reason: string };

/** A host that the user is asked about, and the command that wanted it first. */
export interface NetworkQuestion extends ConnectionRequest {
  /** Aborts when no answer is needed any more. */
  readonly signal: AbortSignal;
}

/** The answer of the user: for the connections that wait, for the command in the question, or for the whole thread. */
export interface NetworkAnswer {
  readonly decision: "allow" | "deny";
  readonly scope: "connection" | "once" | "thread";
  /** The reason for the denial, as a clause; if absent, the user declined. */
  readonly reason?: string;
}

/**
 * Asks the user. Rejects if no one can be asked. May take as long as it likes: a late answer still counts, for the thread or
 * for the command as long as it runs. What is to count for a command that has ended is the caller's to remember.
 */
export type AskUser = (question: NetworkQuestion) => Promise<NetworkAnswer>;

/** Dependencies by which a gate decides. */
export interface HostGateOptions {
  readonly clock: Clock;
  readonly allow?: readonly HostRule[];
  readonly deny?: readonly HostRule[];
  /** Without it, what no rule allows is refused at once. */
  readonly ask?: AskUser;
  /** The private addresses that the user named for a host; none if absent. */
  readonly addressesOf?: (endpoint: Endpoint) => readonly AddressBlock[];
  /** Time for which a connection waits for an answer. */
  readonly holdMs?: number;
  /** Called when a connection begins to wait. */
  readonly onHeld?: (request: ConnectionRequest) => void;
}

const HOLD_MS = 60_000;

/** A command that tries one host after another must not flood the user. */
const MOST_QUESTIONS = 8;

interface OpenQuestion {
  readonly command: string | undefined;
  /** Resolves with undefined if no answer was available. Never rejects. */
  readonly answer: Promise<NetworkAnswer | undefined>;
  waiting: number;
}

/** The endpoints that one command may reach, and those that the user declined for it. */
interface CommandGrants {
  readonly rules: HostRules;
  readonly declined: Set<string>;
}

/**
 * Decides about the connections of a thread: by its rules, by what its commands were granted, and otherwise by asking the
 * user, once for each host and port however many connections wait for it.
 */
export class HostGate {
  readonly #options: HostGateOptions;
  readonly #rules = new HostRules();
  readonly #declined = new Set<string>();
  readonly #commands = new Map<string, CommandGrants>();
  readonly #questions = new Map<string, OpenQuestion>();
  /** Endpoints that were allowed once when the connection without a command that wanted them was gone. */
  readonly #retries = new Set<string>();
  readonly #closed = new AbortController();

  constructor(options: HostGateOptions) {
    this.#options = options;
    // Every connection that waits listens for the end of the thread, and Node would warn about a leak.
    setMaxListeners(0, this.#closed.signal);
    for (const rule of options.allow ?? []) this.#rules.allow(rule);
    for (const rule of options.deny ?? []) this.#rules.deny(rule);
  }

  /** Allows a host for the whole thread, also if the user declined it before; a deny rule still beats it. */
  allow(rule: HostRule): void {
    this.#rules.allow(rule);
    for (const key of this.#declined) {
      const [host = "", port] = key.split(":");
      if (allowsEndpoint(rule, { host, port: Number(port) })) this.#declined.delete(key);
    }
  }

  /** Reports whether a deny rule names an endpoint. */
  denies(endpoint: Endpoint): boolean {
    return this.#rules.judge(endpoint) === "deny";
  }

  /** The private addresses that were named for what a connection leads to. If there are any, it may lead nowhere else. */
  addressesOf(request: ConnectionRequest): readonly AddressBlock[] {
    const own = request.command === undefined ? undefined : this.#commands.get(request.command);
    return [
      ...(this.#options.addressesOf?.(request) ?? []),
      ...this.#rules.addressesOf(request),
      ...(own?.rules.addressesOf(request) ?? []),
    ];
  }

  /** Starts a command with hosts that it alone may reach, and hosts that it is refused without a question. */
  addCommand(id: string, allow: readonly HostRule[] = [], deny: readonly HostRule[] = []): void {
    const rules = new HostRules();
    for (const rule of allow) rules.allow(rule);
    for (const rule of deny) rules.deny(rule);
    this.#commands.set(id, { rules, declined: new Set() });
  }

  /** Ends a command, and with it whatever it alone was granted. */
  removeCommand(id: string): void {
    this.#commands.delete(id);
  }

  /** Refuses whatever waits and comes. */
  close(): void {
    this.#closed.abort();
  }

  /** Resolves when it is decided, at the latest when the connection has waited long enough. */
  async decide(request: ConnectionRequest): Promise<Decision> {
    const until = this.#options.clock.now() + (this.#options.holdMs ?? HOLD_MS);
    for (let asked = false; ; asked = true) {
      const known = this.#closed.signal.aborted ? refusal("unanswered", CLOSED) : this.#known(request);
      if (known !== undefined) return known;
      const question = this.#question(request);
      if (question === undefined) return refusal("too-many-questions", TOO_MANY);
      if (!asked) this.#options.onHeld?.(request);
      const answer = await this.#wait(question, until - this.#options.clock.now());
      if (answer === "late") return refusal("unanswered", UNANSWERED);
      if (answer === undefined) return refusal("blocked-by-allowlist", NOT_ASKED);
      // The answer about one command says nothing about another one that waited for the same host.
      if (answer.scope === "connection" && question.command === request.command) return decisionOf(answer);
      if (answer.scope === "connection") continue;
      // A connection without a command has nothing that a grant could be stored for; another command asks for itself.
      const isAnonymous = question.command === undefined && request.command === undefined;
      if (isAnonymous && answer.scope === "once") return decisionOf(answer);
    }
  }

  #known(request: ConnectionRequest): Decision | undefined {
    const key = formatEndpoint(request);
    const verdict = this.#rules.judge(request);
    if (verdict === "deny") return refusal("blocked-by-denylist", "a deny rule names this host");
    if (verdict === "allow") return { outcome: "allow" };
    const own = request.command === undefined ? undefined : this.#commands.get(request.command);
    const ownVerdict = own?.rules.judge(request) ?? "unknown";
    if (ownVerdict === "deny") return refusal("blocked-by-denylist", "this program is not meant to reach it");
    if (ownVerdict === "allow") return { outcome: "allow" };
    if (own?.declined.has(key) || this.#declined.has(key)) return refusal("declined", DECLINED);
    if (request.command === undefined && this.#retries.delete(key)) return { outcome: "allow" };
    if (this.#options.ask !== undefined) return undefined;
    return refusal("blocked-by-allowlist", `it is not on the list of allowed hosts (--network ${key})`);
  }

  #question(request: ConnectionRequest): OpenQuestion | undefined {
    const { ask } = this.#options;
    const key = formatEndpoint(request);
    const open = this.#questions.get(key);
    if (open !== undefined) return open;
    if (ask === undefined || this.#questions.size >= MOST_QUESTIONS) return undefined;
    const question: OpenQuestion = { command: request.command, answer: this.#ask(ask, request), waiting: 0 };
    this.#questions.set(key, question);
    return question;
  }

  async #ask(ask: AskUser, request: ConnectionRequest): Promise<NetworkAnswer | undefined> {
    const key = formatEndpoint(request);
    // Expected: no client that could be asked, or one that went away.
    const answer = await Promise.resolve()
      .then(() => ask({ ...request, signal: this.#closed.signal }))
      .catch(() => undefined);
    const question = this.#questions.get(key);
    this.#questions.delete(key);
    if (answer !== undefined) this.#apply(request, answer, question?.waiting === 0);
    return answer;
  }

  #apply(request: ConnectionRequest, { decision, scope }: NetworkAnswer, isLate: boolean): void {
    const exactly: HostRule = { host: request.host, port: request.port, isWildcard: false };
    if (scope === "connection") return;
    if (scope === "thread") {
      if (decision === "allow") this.allow(exactly);
      else this.#declined.add(formatEndpoint(request));
    } else if (request.command !== undefined) {
      const own = this.#commands.get(request.command);
      if (decision === "allow") own?.rules.allow(exactly);
      else own?.declined.add(formatEndpoint(request));
    } else if (decision === "allow" && isLate) this.#retries.add(formatEndpoint(request));
  }

  /** Returns the user's answer, undefined if there is no one to answer, or "late" if time ran out first. */
  async #wait(question: OpenQuestion, holdMs: number): Promise<NetworkAnswer | undefined | "late"> {
    question.waiting += 1;
    let cancel = () => {};
    const late = new Promise<"late">((resolve) => {
      const end = () => resolve("late");
      const cancelTimer = this.#options.clock.after(holdMs, end);
      this.#closed.signal.addEventListener("abort", end, { once: true });
      cancel = () => {
        cancelTimer();
        this.#closed.signal.removeEventListener("abort", end);
      };
    });
    const answer = await Promise.race([question.answer, late]);
    cancel();
    question.waiting -= 1;
    return answer;
  }
}

const CLOSED = "the thread has ended";
const TOO_MANY = "too many hosts wait for an answer already";
const UNANSWERED =
  "the question to the user was not answered in time; an answer still counts for the next attempt";
const NOT_ASKED = "it is not on the list of allowed hosts, and no one could be asked";
const DECLINED = "the user declined it";

function refusal(code: RefusalCode, reason: string): Decision {
  return { outcome: "deny", code, reason };
}

function decisionOf({ decision, reason = DECLINED }: NetworkAnswer): Decision {
  return decision === "allow" ? { outcome: "allow" } : refusal("declined", reason);
}
