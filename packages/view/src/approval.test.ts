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
    ["s", "Allow the agent, in this thread, to run: npm test -- --watch (in /repo)", "session"],
    ["a", "Always allow this agent, in this project, to run: npm test -- --watch (in /repo)", "always"],
    ["n", "Decline; the agent continues without it", "once"],
  ]);
  const change = { path: "/repo/a", kind: "add", diff: "+x" } as const;
  expect(covered({ kind: "fileChange", itemId: "i", changes: [change] })[1]?.[1]).toBe(
    "Allow the agent, in this thread, to change the file /repo/a in any way",
  );
});

test("shows what a running command waits for, and grants exactly that", () => {
  const needs = { network: { hosts: ["registry.example:443"] } };
  const { title, choices } = approvalPrompt({ ...command, running: true, needs });
  expect(title).toBe("Allow this running command to connect to registry.example (port 443)?");
  expect(choices.map(({ label }) => label)).toEqual(["once", "this thread", "always here", "no"]);
  expect(choices[2]?.help).toBe(
    "Always allow this agent, in this project, to connect to registry.example (port 443), from any command",
  );
});

test("shows the diff of commits that would be taken over", () => {
  const diff =
    "diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n one\n+two\ndiff --git a/b b/b\nnew file mode 100644\n@@ -0,0 +1 @@\n+x\n";
  const action = {
    kind: "tool",
    itemId: "i",
    tool: "git",
    arguments: { diff },
    needs: { git: true },
  } as const;
  const { title, body, choices } = approvalPrompt(action);
  expect(title).toBe("The agent made commits in its sandbox");
  expect(body).toMatchObject([
    { kind: "diff", path: "a.txt", change: "modify", added: 1 },
    { kind: "diff", path: "b", change: "add", added: 1 },
  ]);
  expect(choices[1]?.help).toContain("add its commits to your repository");
});

test("never offers to leave the sandbox for always", () => {
  const { title, choices } = approvalPrompt({ ...command, needs: { unconfined: true } });
  expect(title).toBe("Run this outside the sandbox, with all of your permissions? Nothing limits it.");
  expect(choices.map(({ key }) => key)).toEqual(["y", "s", "n"]);
});

test("offers a suggested rule by its first words", () => {
  const suggestion = { id: "r", match: { type: "prefix" as const, words: ["npm", "test"] } };
  const choice = approvalPrompt(command, [
    { tool: "command", project: "/repo", agent: "flint", ...suggestion },
  ]).choices.find(({ key }) => key === "p");
  expect(choice).toEqual({
    key: "p",
    label: "always npm test",
    help: "Always allow this agent, in this project, to run commands that begin with: npm test",
    decision: { outcome: "allow", scope: "always", rule: "r" },
  });
});

test("asks in the words of what would be allowed, with the agent's reason and the earlier run", () => {
  const needs = { network: { hosts: ["registry.example"] }, write: ["/home/u/.npm"] };
  const after = { itemId: "j", ranMs: 4_200, evidence: ["registry.example:443 was refused"] };
  const reason = "It wants to connect to registry.example (ports 80 and 443) and write /home/u/.npm.";
  const prompt = approvalPrompt({ ...command, needs, after, why: "The packages are there.", reason });
  expect(prompt.title).toBe(
    "Allow this command to connect to registry.example (ports 80 and 443) and write /home/u/.npm?",
  );
  expect([prompt.reason, prompt.why]).toEqual([undefined, "The packages are there."]);
  expect(prompt.after).toEqual([
    "registry.example:443 was refused",
    "It already ran for 4 s and may have done part of its work.",
  ]);
});

test("offers all edits for the thread, and a rule for all agents", () => {
  const { choices } = approvalPrompt({ kind: "fileChange", itemId: "i", changes: [] }, [
    {
      id: "e",
      project: "/repo",
      agent: "a",
      tool: "fileChange",
      match: { type: "edits" },
      scopes: ["session"],
    },
    { id: "f", project: "/repo", tool: "fileChange", match: { type: "exact", path: "/repo/a" } },
  ]);
  expect(choices.filter(({ key }) => "eA".includes(key)).map(({ key, decision }) => [key, decision])).toEqual(
    [
      ["e", { outcome: "allow", scope: "session", rule: "e" }],
      ["A", { outcome: "allow", scope: "always", rule: "f" }],
    ],
  );
});
