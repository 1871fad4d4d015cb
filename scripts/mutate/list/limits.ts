import type { Mutation } from "../mutation.ts";

const BUDGET_TESTS = ["packages/core/src/engine/budgets.test.ts"];
const USAGE_LIMITS = "packages/core/src/account/usage-limits.ts";
const USAGE_LIMIT_TESTS = ["packages/core/src/engine/usage-limits.test.ts"];
const LOCKED_TESTS = ["packages/core/src/engine/locked-settings.test.ts"];
const LOCKS = "packages/core/src/settings/settings-locks.ts";
const LOCK_TESTS = ["packages/core/src/settings/settings-locks.test.ts"];
const ACP_SESSION = "packages/drivers/src/acp/session.ts";
const ACP_SESSION_TESTS = ["packages/drivers/src/acp/session.test.ts"];

/** Faults in what limits a turn: budgets, usage limits of accounts, and what an administrator has locked. */
export const LIMIT_FAULTS: readonly Mutation[] = [
  {
    name: "euros-as-dollars",
    promise: "A cost in another currency does not count as dollars.",
    file: "packages/core/src/budget/limits.ts",
    find: 'const money = cost?.currency === "USD" ? { costUsd: cost.amount } : {};',
    replace: "const money = cost === undefined ? {} : { costUsd: cost.amount };",
    tests: BUDGET_TESTS,
  },
  {
    name: "unreported-cost-accepted",
    promise: "A turn fails if a limit had to hold and its agent did not report what it counts.",
    file: "packages/core/src/budget/budget-guard.ts",
    find: "const missing = this.#dueAtEnd.find(({ unit }) => !this.#isReported(unit));",
    replace: "const missing = this.#dueAtEnd.find(({ unit }) => unit === undefined);",
    tests: BUDGET_TESTS,
  },
  {
    name: "first-reset-of-several",
    promise: "Of several usage limits, a turn waits for the one that resets last.",
    file: USAGE_LIMITS,
    find: ".sort((left, right) => holdsUntil(right) - holdsUntil(left));",
    replace: ".sort((left, right) => holdsUntil(left) - holdsUntil(right));",
    tests: USAGE_LIMIT_TESTS,
  },
  {
    name: "future-limit-believed",
    promise: "A usage limit that was reported before the clock was set back is not believed.",
    file: USAGE_LIMITS,
    find: "  if (reportedAtMs > now + UNDATED_MS) return false;\n",
    replace: "",
    tests: USAGE_LIMIT_TESTS,
  },
  {
    name: "credit-limit-forgotten",
    promise: "A usage limit that needs the user is believed for a day.",
    file: USAGE_LIMITS,
    find: "needsUser === true ? NEEDS_USER_MS : UNDATED_MS",
    replace: "UNDATED_MS",
    tests: USAGE_LIMIT_TESTS,
  },
  {
    name: "limits-of-any-agent",
    promise: "A Codex client gets the usage limits of the default agent as the main ones.",
    file: "packages/frontends/src/codex/host/accounts.ts",
    find: "buckets.find(({ limitId }) => limitId === agent) ?? buckets[0]",
    replace: "buckets[0]",
    tests: ["test/e2e/codex/host.test.ts"],
  },
  {
    name: "parent-warning-in-sub-agent",
    promise: "The thread of a sub-agent does not get the warnings of its parent.",
    file: "packages/core/src/child/child-events.ts",
    find: 'return event.data.reason === "followingFailed"',
    replace: 'return event.data.reason !== ""',
    tests: ["packages/core/src/child/child-events.test.ts"],
  },
  {
    name: "acp-cost-at-end-only",
    promise: "The cost of an ACP agent is checked at each report.",
    file: ACP_SESSION,
    find: 'if (update.sessionUpdate === "usage_update" && cost !== undefined) this.#context?.emit(cost);',
    replace: "",
    tests: ACP_SESSION_TESTS,
  },
  {
    name: "acp-baseline-lost",
    promise: "The first turn of a resumed ACP session counts what it costs.",
    file: ACP_SESSION,
    find: "new SessionUpdates(spec.nativeCost)",
    replace: "new SessionUpdates()",
    tests: ACP_SESSION_TESTS,
  },
  {
    name: "lock-not-checked-at-turn",
    promise: "No turn of any kind starts with settings beyond what is locked.",
    file: "packages/core/src/turn/decisions.ts",
    find: "  rejectBeyondLocks(settings, locks);\n",
    replace: "",
    tests: LOCKED_TESTS,
  },
  {
    name: "locked-limit-extended",
    promise: "No answer extends a limit beyond what is locked.",
    file: "packages/core/src/budget/budget-guard.ts",
    find: "if (locked !== undefined) return this.#stopLocked(locked);",
    replace: "",
    tests: LOCKED_TESTS,
  },
  {
    name: "locked-network-through-sandbox",
    promise: "A locked network cannot be opened by the sandbox.",
    file: LOCKS,
    find: "const network = networkOf(settings);",
    replace: "const { network } = settings;",
    tests: LOCK_TESTS,
  },
  {
    name: "locked-limit-best-effort",
    promise: "A locked limit always has to hold.",
    file: LOCKS,
    find: 'budget?.enforcement === "bestEffort" && locked',
    replace: "budget?.enforcement === undefined && locked",
    tests: LOCK_TESTS,
  },
  {
    name: "acp-price-ignored",
    promise: "A configured price gives the cost of an ACP agent that does not report it.",
    file: "packages/drivers/src/acp/session.ts",
    find: "options.prices?.configured(turn.settings.model)",
    replace: "undefined",
    tests: ["packages/drivers/src/acp/session.test.ts"],
  },
  {
    name: "free-model-needs-cost",
    promise: "A cost limit does not fail a turn of a model that is free.",
    file: "packages/drivers/src/acp/driver.ts",
    find: "price !== undefined && isFree(price)",
    replace: "price === undefined",
    tests: ["packages/drivers/src/acp/driver.test.ts"],
  },
  {
    name: "locked-limit-not-taken",
    promise: "A task takes a limit that the administrator locked as its own.",
    file: "packages/tasks/src/run/role-turn.ts",
    find: "turn: { ...turn, [unit]: limit } } }",
    replace: "turn } }",
    tests: ["packages/server/src/tasks-roles.test.ts"],
  },
];
