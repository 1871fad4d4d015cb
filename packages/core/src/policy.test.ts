import type { Action, ApprovalPolicy } from "@flint/protocol";
import { verifies } from "@flint/testkit";
import { expect, test } from "vitest";
import { judge } from "./policy.ts";

const reading: Action = { kind: "command", itemId: "i", command: "ls", cwd: "/work" };
const command: Action = { kind: "command", itemId: "i", command: "rm a", cwd: "/work" };
const change: Action = { kind: "fileChange", itemId: "i", changes: [{ path: "/a", kind: "add", diff: "" }] };
const tool: Action = { kind: "tool", itemId: "i", tool: "fetch" };

type Row = readonly [ApprovalPolicy, Action, boolean, "allow" | "ask"];

const TABLE: readonly Row[] = [
  ["never", command, false, "allow"],
  ["never", change, false, "allow"],
  ["never", tool, false, "allow"],
  ["unlessTrusted", reading, false, "allow"],
  ["unlessTrusted", command, false, "ask"],
  ["unlessTrusted", change, false, "ask"],
  ["unlessTrusted", tool, false, "ask"],
  ["unlessTrusted", command, true, "allow"],
  ["unlessTrusted", change, true, "allow"],
  ["always", reading, false, "ask"],
  ["always", command, false, "ask"],
  ["always", change, false, "ask"],
  ["always", tool, false, "ask"],
  ["always", command, true, "allow"],
];

verifies("S0-67", "never, unlessTrusted and always each behave as they are called", () => {
  for (const [approvalPolicy, action, granted, expected] of TABLE) {
    const { kind } = judge({ approvalPolicy, action, granted });
    expect(kind, `${approvalPolicy} ${action.kind} ${granted}`).toBe(expected);
  }
});

test("whoever is asked is told why", () => {
  const reasons = [reading, change, tool].map((action) => {
    const verdict = judge({ approvalPolicy: "always", action, granted: false });
    return verdict.kind === "ask" ? verdict.reason : "";
  });
  expect(reasons).toEqual(Array(3).fill("Every action is asked about."));
  const why = [command, change, tool].map((action) =>
    judge({ approvalPolicy: "unlessTrusted", action, granted: false }),
  );
  expect(why).toEqual([
    { kind: "ask", reason: "The command is not on the list of commands known to only read." },
    { kind: "ask", reason: "Files would be changed." },
    { kind: "ask", reason: "The tool is not known to only read." },
  ]);
});
