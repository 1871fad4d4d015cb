import type { ReportedLimit, TurnError, UsageLimit } from "@flint/protocol";
import type { Clock, LimitStore } from "../ports/index.ts";
import { mentionsUsageLimit, resetInText } from "./reset-text.ts";

/** A reset time further away than this, either way, is a mistake in the report. */
const LATEST_RESET_MS = 400 * 86_400_000;
const PASSED_RESET_MS = 300_000;

/** Lifetime of a limit without a reset time; one that needs the user lasts longer. */
const UNDATED_MS = 3_600_000;
const NEEDS_USER_MS = 86_400_000;

/** Interval at which the same report is stored again, so that it stays current. */
const RENEW_MS = 60_000;

const MAX_LIMITS = 200;
const MAX_NAME = 100;

/** The usage limits of the agents' accounts, as last reported by any process that shares the store. */
export class UsageLimits {
  readonly #clock: Clock;
  readonly #store: LimitStore;

  constructor(clock: Clock, store: LimitStore) {
    this.#clock = clock;
    this.#store = store;
  }

  /** Stores what an agent reports. Returns all of its limits if that changed them, else undefined. */
  report(agent: string, reported: readonly ReportedLimit[]): readonly UsageLimit[] | undefined {
    const now = this.#clock.now();
    const before = this.#current(now);
    const known = new Map(before.map((limit) => [keyOf(limit), limit]));
    let isChange = false;
    let isRenewal = false;
    for (const limit of reported.map((one) => checked(agent, one, now))) {
      const last = known.get(keyOf(limit));
      if (last === undefined || !isSame(last, limit)) isChange = true;
      else if (now - last.reportedAtMs < RENEW_MS) continue;
      isRenewal = true;
      // The latest last, so that the oldest are dropped first.
      known.delete(keyOf(limit));
      known.set(keyOf(limit), limit);
    }
    const limits = [...known.values()].slice(-MAX_LIMITS);
    if (isRenewal) this.#store.write(limits);
    return isChange ? limits.filter((limit) => limit.agent === agent && isCurrent(limit, now)) : undefined;
  }

  /** The known limits, by agent. A limit that has reset since is left out. */
  known(agent?: string): readonly UsageLimit[] {
    const limits = this.#current(this.#clock.now());
    const requested = agent === undefined ? limits : limits.filter((limit) => limit.agent === agent);
    return [...requested].sort((left, right) => left.agent.localeCompare(right.agent));
  }

  /**
   * The limit that a turn of this agent failed at: one that it reported as reached, else what its error says. Undefined
   * if the turn failed for another reason.
   */
  behind(agent: string, error: TurnError): UsageLimit | undefined {
    const isNamed = error.errorInfo === "UsageLimitExceeded";
    const isUnnamed = error.errorInfo === undefined || UNNAMED.has(error.errorInfo);
    const text = `${error.message}\n${error.additionalDetails ?? ""}`;
    if (!isNamed && !(isUnnamed && mentionsUsageLimit(text))) return undefined;
    const now = this.#clock.now();
    const reached = this.known(agent).filter(({ status }) => status === "reached");
    const latest = Math.max(...reached.map(({ reportedAtMs }) => reportedAtMs));
    // Of several, the turn can continue when the last one resets; one that needs the user does not by itself.
    const [reported] = reached
      .filter(({ reportedAtMs }) => latest - reportedAtMs < RENEW_MS)
      .sort((left, right) => holdsUntil(right) - holdsUntil(left));
    if (reported !== undefined) return reported;
    const resetsAtMs = resetInText(text, now);
    const guess = { window: "usage", status: "reached", source: "text", guessed: true } as const;
    return checked(agent, resetsAtMs === undefined ? guess : { ...guess, resetsAtMs }, now);
  }

  #current(now: number): readonly UsageLimit[] {
    return this.#store.read().filter((limit) => isCurrent(limit, now));
  }
}

function holdsUntil({ needsUser, resetsAtMs = 0 }: UsageLimit): number {
  return needsUser === true ? Number.MAX_SAFE_INTEGER : resetsAtMs;
}

/** Kinds of errors that say nothing about the reason. */
const UNNAMED: ReadonlySet<string> = new Set(["Other", "AgentFailed"]);

/** A store for one process. */
export class MemoryLimitStore implements LimitStore {
  #limits: readonly UsageLimit[] = [];

  read(): readonly UsageLimit[] {
    return this.#limits;
  }

  write(limits: readonly UsageLimit[]): void {
    this.#limits = limits;
  }
}

function keyOf({ agent, account = "", model = "", window }: UsageLimit): string {
  return JSON.stringify([agent, account, model, window]);
}

function isSame({ reportedAtMs: _last, ...last }: UsageLimit, { reportedAtMs: _at, ...limit }: UsageLimit) {
  const fields = Object.keys({ ...last, ...limit });
  return fields.every((field) => Reflect.get(last, field) === Reflect.get(limit, field));
}

/** A report from the future was made before the clock was set back. */
function isCurrent({ resetsAtMs, reportedAtMs, needsUser }: UsageLimit, now: number): boolean {
  if (reportedAtMs > now + UNDATED_MS) return false;
  const undatedMs = needsUser === true ? NEEDS_USER_MS : UNDATED_MS;
  return resetsAtMs === undefined ? reportedAtMs > now - undatedMs : resetsAtMs > now;
}

/** A report without the numbers that cannot be true. */
function checked(agent: string, reported: ReportedLimit, now: number): UsageLimit {
  const { account, model, window, windowMinutes, usedPercent, resetsAtMs, ...rest } = reported;
  const isReset = isBetween(resetsAtMs, now - PASSED_RESET_MS, now + LATEST_RESET_MS);
  return {
    agent,
    ...(account === undefined ? {} : { account: account.slice(0, MAX_NAME) }),
    ...(model === undefined ? {} : { model: model.slice(0, MAX_NAME) }),
    window: window.slice(0, MAX_NAME),
    ...(isBetween(windowMinutes, 0, Number.MAX_SAFE_INTEGER) ? { windowMinutes } : {}),
    ...(isBetween(usedPercent, 0, 1_000_000) ? { usedPercent: Math.min(usedPercent, 100) } : {}),
    ...(isReset ? { resetsAtMs } : {}),
    ...rest,
    reportedAtMs: now,
  };
}

function isBetween(value: number | undefined, least: number, most: number): value is number {
  return value !== undefined && value >= least && value <= most;
}
