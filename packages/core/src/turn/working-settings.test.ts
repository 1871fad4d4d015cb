import type { SandboxPolicy, ThreadSettings } from "@flint/protocol";
import { expect, test } from "vitest";
import { workingSettings } from "./working-settings.ts";

function policyOf(
  sandboxPolicy: SandboxPolicy,
  approvalPolicy: ThreadSettings["approvalPolicy"],
  asks = true,
) {
  const settings: ThreadSettings = { model: "a/b", cwd: "/w", approvalPolicy, sandboxPolicy, config: {} };
  return workingSettings(settings, asks).sandboxPolicy.type;
}

const ASKING: SandboxPolicy = { type: "readOnly", whenApproved: "workspaceWrite" };

test("an agent that asks may write what is approved, in a thread that says so", () => {
  expect(policyOf(ASKING, "unlessTrusted")).toBe("workspaceWrite");
  expect(policyOf(ASKING, "always")).toBe("workspaceWrite");
});

test("where nobody is asked, or the agent would not ask, it only reads", () => {
  expect(policyOf(ASKING, "never")).toBe("readOnly");
  expect(policyOf(ASKING, "always", false)).toBe("readOnly");
});

test("every other policy is what it says", () => {
  expect(policyOf({ type: "readOnly" }, "always")).toBe("readOnly");
  expect(policyOf({ type: "dangerFullAccess" }, "always")).toBe("dangerFullAccess");
  expect(policyOf({ type: "workspaceWrite" }, "never")).toBe("workspaceWrite");
});
