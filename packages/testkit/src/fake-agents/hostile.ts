import type { FakeStep } from "./fake-agent.ts";

const MEGABYTE = 1024 * 1024;

/** Agents that do everything wrong, each in its own way. Put steps before theirs to begin with a proper conversation. */
export const HOSTILE_AGENTS = {
  "writes garbage": [{ raw: "}{ not json \u0000 \uFFFD", repeat: 100 }, { raw: "[1,2" }, { hang: true }],
  "writes a line of 50 MB": [{ raw: "x", times: 50 * MEGABYTE }, { hang: true }],
  "writes a line of 50 MB that never ends": [
    { raw: "x", times: 50 * MEGABYTE, newline: false },
    { hang: true },
  ],
  "writes 100 MB to stderr": [{ stderr: "x".repeat(1023).concat("\n"), times: 100 * 1024 }, { hang: true }],
  "never answers": [{ hang: true }],
  "never answers and ignores SIGTERM": [{ ignoreSignals: ["SIGTERM", "SIGINT", "SIGHUP"] }, { hang: true }],
  "exits at once": [{ exit: 0 }],
  "exits at once with an error": [{ stderr: "cannot start: no such account\n" }, { exit: 3 }],
  "is killed": [{ kill: true }],
  "closes its output and stays": [{ closeOutput: true }, { hang: true }],
  "answers everything twice": [
    {
      forever: [{ expect: { id: "$id", method: "$method" } }, { send: { id: "$id", result: {} }, repeat: 2 }],
    },
  ],
  "answers a request that was never sent": [{ send: { id: 999_999, result: {} } }, { hang: true }],
  "floods with notifications": [
    { send: { method: "flood/{{index}}", params: { text: "x".repeat(1000) } }, repeat: 20_000 },
    { hang: true },
  ],
} as const satisfies Readonly<Record<string, readonly FakeStep[]>>;

/** The name of a hostile agent, as a test title wants it. */
export type HostileAgent = keyof typeof HOSTILE_AGENTS;
