import type { Mutation } from "../mutation.ts";

const RECORD = "packages/host/src/store/log/record.ts";
const PLAN = "packages/host/src/checkpoints/restore/plan.ts";
const PLAN_TESTS = ["packages/host/src/checkpoints/restore/plan.test.ts"];
const REDACTOR = "packages/core/src/redact/redactor.ts";

/** Faults in the log, the checkpoints and the redaction of secrets. */
export const STORE_FAULTS: readonly Mutation[] = [
  {
    name: "store-damaged-policy-read",
    promise: "Damaged settings are never read as a weaker policy.",
    file: RECORD,
    find: "ThreadSettings.safeParse(value).success",
    replace: "isRecord(value) || ThreadSettings.safeParse(value).success",
    tests: ["packages/host/src/store/log/record.test.ts", "packages/host/src/store/damage.test.ts"],
  },
  {
    name: "store-damaged-scope-read",
    promise: "A damaged scope of a decision is never read as a wider one.",
    file: RECORD,
    find: "scope: (value) => DecisionScope.safeParse(value).success",
    replace: "scope: (value) => DecisionScope.safeParse(value).success || isString(value)",
    tests: ["packages/host/src/store/log/record.test.ts"],
  },
  {
    name: "store-nul-block-loses-record",
    promise: "A block of NULs that a power failure left costs no complete record.",
    file: RECORD,
    find: "return text.charCodeAt(0) === 0 ? parse(withoutNuls(text)) : undefined;",
    replace: "return text.charCodeAt(0) === 1 ? parse(withoutNuls(text)) : undefined;",
    tests: ["packages/host/src/store/log/record.test.ts", "packages/host/src/store/damage.test.ts"],
  },
  {
    name: "store-second-writer",
    promise: "A thread has one writer: a second process is refused.",
    file: "packages/host/src/store/lock.ts",
    find: '(codeOf(error) === "EADDRINUSE" ? resolve(undefined) : reject(error))',
    replace: '(codeOf(error) === "EADDRINUSE" ? resolve(server) : reject(error))',
    tests: ["packages/host/src/store/lock.test.ts"],
  },
  {
    name: "revert-overwrites-newer-change",
    promise: "A revert leaves a file alone that was changed after the turn.",
    file: PLAN,
    find: 'if (!sameState(current, after)) return { reason: "changedSince" };',
    replace: "",
    tests: PLAN_TESTS,
  },
  {
    name: "revert-overwrites-change-between",
    promise: "A revert leaves a file alone that something else changed between the turns.",
    file: PLAN,
    find: 'if (isBroken) return { reason: "changedBetween" };',
    replace: "",
    tests: PLAN_TESTS,
  },
  {
    name: "revert-writes-protected",
    promise: "A revert never touches protected files.",
    file: PLAN,
    find: 'if (isProtected(path, root)) return { why: "protected" };',
    replace: "",
    tests: [...PLAN_TESTS, "packages/host/src/checkpoints/file-checkpoints.test.ts"],
  },
  {
    name: "revert-removes-full-folder",
    promise: "A revert keeps a folder with files that the turns did not create.",
    file: PLAN,
    find: "if (view.children(path, root).every((child) => gone.has(child))) return true;",
    replace: 'if (view.children(path, root).every((child) => child !== "")) return true;',
    tests: PLAN_TESTS,
  },
  {
    name: "secret-shown",
    promise: "Secrets of the configuration are redacted everywhere.",
    file: REDACTOR,
    find: 'shown = shown.replaceAll(secret, "[redacted:secret]");',
    replace: "shown = shown.replaceAll(secret, secret);",
    tests: ["packages/core/src/redact/redactor.test.ts"],
  },
  {
    name: "secret-cut-in-stream",
    promise: "A secret that is streamed in pieces is redacted.",
    file: REDACTOR,
    find: "earliest = Math.min(earliest, partAtEnd(text, secret));",
    replace: "earliest = Math.min(earliest, text.length, partAtEnd(text, secret) + secret.length);",
    tests: ["packages/core/src/redact/redactor.test.ts"],
  },
  {
    name: "store-sync-failure-forgotten",
    promise: "After an I/O error of a sync, no later sync of that file counts.",
    file: "packages/host/src/store/log/log-writer.ts",
    find: 'if (failure.data.code === "EIO") this',
    replace: 'if (failure.data.code === "EIO" && this.#size < 0) this',
    tests: ["packages/host/src/store/faults.long.test.ts"],
  },
  {
    name: "deleted-sessions-kept",
    promise: "Deleting a thread deletes the copies of its agents' sessions.",
    file: "packages/core/src/thread/registry.ts",
    find: "await this.#options.onThreadDeleted?.(threadId).catch(() => undefined);",
    replace: "",
    tests: ["packages/server/src/compose.test.ts"],
  },
];
