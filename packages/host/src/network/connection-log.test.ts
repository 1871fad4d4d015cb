import { expect, test } from "vitest";
import {
  type ConnectionEvent,
  ConnectionLog,
  describeDirectAttempt,
  describeRefusals,
} from "./connection-log.ts";

function refused(at: number, host: string, more: Partial<ConnectionEvent> = {}): ConnectionEvent {
  return {
    at,
    host,
    port: 443,
    outcome: "refused",
    code: "declined",
    reason: "the user declined it",
    ...more,
  };
}

test("lists what was refused to a command by its token, and what fell into its time without one", () => {
  const log = new ConnectionLog();
  log.record(refused(10, "a.example", { command: "npm" }));
  log.record(refused(11, "a.example", { command: "npm", code: "unanswered", reason: "late" }));
  log.record(refused(12, "b.example"));
  log.record(refused(99, "c.example"));
  log.record(refused(13, "d.example", { command: "other" }));
  log.record(refused(14, "e.example", { command: "npm", outcome: "allowed" }));
  expect(log.refusedTo({ command: "npm", startedAt: 5, endedAt: 20 })).toEqual([
    { host: "a.example", port: 443, code: "unanswered", reason: "late", count: 2, isCertain: true },
    {
      host: "b.example",
      port: 443,
      code: "declined",
      reason: "the user declined it",
      count: 1,
      isCertain: false,
    },
  ]);
});

test("forgets the oldest connections", () => {
  const log = new ConnectionLog(2);
  for (const host of ["a", "b", "c", "d", "e"]) log.record(refused(1, `${host}.example`, { command: "x" }));
  const hosts = log.refusedTo({ command: "x", startedAt: 0, endedAt: 2 }).map(({ host }) => host);
  expect(hosts).toEqual(["d.example", "e.example"]);
});

test("describes refusals in one sentence", () => {
  const log = new ConnectionLog();
  const described = () => describeRefusals(log.refusedTo({ command: "x", startedAt: 0, endedAt: 2 }));
  expect(described()).toBeUndefined();
  log.record(refused(1, "a.example", { command: "x" }));
  expect(described()).toBe("The sandbox refused the connection to a.example:443: the user declined it.");
  for (let at = 0; at < 6; at += 1) log.record(refused(1, `b${at}.example`, { command: "x" }));
  expect(described()).toMatch(
    /^The sandbox refused connections to a\.example:443 \(.*b3\.example:443 .* and 2 more\.$/,
  );
});

test.each([
  "curl: (6) Could not resolve host: registry.example",
  "Error: getaddrinfo EAI_AGAIN registry.example",
  "socket.gaierror: [Errno -3] Temporary failure in name resolution",
  "connect: Network is unreachable",
])("explains that a program did not go through the proxy: %s", (output) => {
  expect(describeDirectAttempt(output)).toContain("HTTPS_PROXY");
});

test.each(["Connection refused", "403 Forbidden", "Permission denied", "timed out", ""])(
  "does not blame the sandbox for %j",
  (output) => {
    expect(describeDirectAttempt(output)).toBeUndefined();
  },
);
