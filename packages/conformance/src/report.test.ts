import { describe, expect, test } from "vitest";
import type { CheckResult } from "./check.ts";
import { comparisonFinding, findingLines, jsonReport, summaryLine } from "./report.ts";

const ESCAPE = String.fromCharCode(27);

function finding(outcome: CheckResult["outcome"], reason?: string): CheckResult {
  const sent = { direction: "sent", text: '{"id":1,"method":"x"}', message: { id: 1, method: "x" } } as const;
  const came = { direction: "came", text: `{"id":1,"result":"${ESCAPE}[31m"}`, message: undefined } as const;
  return { about: "Things", name: "it works", outcome, reason, conversations: [[sent, came]] };
}

describe("a report", () => {
  test("prints a passed check in one line, and why another is not offered", () => {
    expect(findingLines(finding("passed"))).toBe("  ok           it works\n");
    expect(findingLines(finding("not offered", "not supported"))).toBe(
      "  not offered  it works\n               not supported\n",
    );
  });

  test("shows the sent and received messages of a failure, with control characters escaped", () => {
    expect(findingLines(finding("failed", "one\ntwo")).split("\n")).toEqual([
      "  FAILED       it works",
      "               one",
      "               two",
      '               sent {"id":1,"method":"x"}',
      '               came {"id":1,"result":"\\u{1b}[31m"}',
      "",
    ]);
    expect(findingLines(finding("failed", "x"))).not.toContain(ESCAPE);
  });

  test("shows the end of a long conversation, and names connections where there are several", () => {
    const entry = { direction: "came", text: "y".repeat(1000), message: undefined } as const;
    const long = {
      ...finding("failed", "x"),
      conversations: [Array.from({ length: 30 }, () => entry), [entry]],
    };
    const lines = findingLines(long).split("\n");
    expect(lines).toContain("               on connection 2:");
    expect(lines).toContain("               (6 earlier messages)");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(460);
  });

  test("ends with a count, and as JSON includes conversations for failures only", () => {
    const findings = [finding("passed"), finding("failed", "x"), finding("not offered", "y")];
    expect(summaryLine(findings, 1.26)).toBe("1 passed, 1 failed, 1 not offered (1.3 s)\n");
    expect(jsonReport("a server", "codex", findings)).toMatchObject({
      target: "a server",
      protocol: "codex",
      passed: 1,
      failed: 1,
      notOffered: 1,
      checks: [
        { name: "it works", outcome: "passed" },
        { outcome: "failed", reason: "x", conversations: [[{ direction: "sent" }, { direction: "came" }]] },
        { outcome: "not offered", reason: "y" },
      ],
    });
    expect(JSON.stringify(jsonReport("a", "codex", [finding("passed")]))).not.toContain("conversations");
  });

  test("shows a comparison as one more check", () => {
    expect(comparisonFinding("a.json", [])).toMatchObject({ outcome: "passed", reason: undefined });
    expect(comparisonFinding("a.json", ["this", "that"])).toMatchObject({
      outcome: "failed",
      reason: "this\nthat",
    });
  });
});
