import { expect, test } from "vitest";
import { approvalPrompt } from "./approval.ts";

const command = { kind: "command", itemId: "i", command: "npm test -- --watch", cwd: "/repo" } as const;

test("shows the whole command, its folder and the reason", () => {
  expect(approvalPrompt({ ...command, reason: "It is not known to be safe." })).toMatchObject({
    title: "The agent wants to run a command",
    place: { text: "/repo", exact: true },
    subject: [{ text: "npm test -- --watch", exact: true }],
    reason: "It is not known to be safe.",
  });
});

test("offers every scope, and says what each covers", () => {
  const covered = (action: Parameters<typeof approvalPrompt>[0]) =>
    approvalPrompt(action).choices.map(({ key, help, decision }) => [key, help, decision.scope]);
  expect(covered(command)).toEqual([
    ["y", "Allow it this time", "once"],
    ["s", "Allow this exact command in this thread", "session"],
    ["a", "Always allow this exact command in this project", "always"],
    ["n", "Decline; the agent continues without it", "once"],
  ]);
  const change = { path: "/repo/a", kind: "add", diff: "+x" } as const;
  expect(covered({ kind: "fileChange", itemId: "i", changes: [change] })[1]?.[1]).toBe(
    "Allow any change to these files in this thread",
  );
});

test("offers a suggested rule by its first words", () => {
  const suggestion = { id: "r", match: { type: "prefix" as const, words: ["npm", "test"] } };
  const choice = approvalPrompt(command, [
    { tool: "command", project: "/repo", agent: "flint", ...suggestion },
  ]).choices.find(({ key }) => key === "p");
  expect(choice).toEqual({
    key: "p",
    label: "always npm test",
    help: "Always allow commands that start with: npm test",
    decision: { outcome: "allow", scope: "always", rule: "r" },
  });
});
