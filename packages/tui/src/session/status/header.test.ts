import type { ThreadSettings } from "@flint/protocol";
import { expect, test } from "vitest";
import { textOf } from "../../draw/line.ts";
import { headerBlock } from "./header.ts";

const LOOK = { columns: 80, rows: 20, colour: false, unicode: true };

const settings: Omit<ThreadSettings, "model"> = {
  cwd: "/home/me/repo",
  approvalPolicy: "unlessTrusted",
  sandboxPolicy: { type: "workspaceWrite" },
  config: {},
};

function headerFor(model: string, branch?: string): string[] {
  const machine = { home: "/home/me", branchOf: () => branch };
  return headerBlock({ ...settings, model }, "ask", machine, LOOK).head.map(textOf);
}

test("names the agent, the model, the permissions, the folder and its branch", () => {
  expect(headerFor("claude/opus", "main")).toEqual([
    "Flint claude · opus · permissions: ask · ~/repo (main)",
  ]);
  expect(headerFor("flint/ollama/qwen3:8b")).toEqual([
    "Flint flint · ollama/qwen3:8b · permissions: ask · ~/repo",
  ]);
});

test.each(["claude/default", "claude"])("says that %s is the agent's default model", (model) => {
  expect(headerFor(model)).toEqual(["Flint claude · its default model · permissions: ask · ~/repo"]);
});
