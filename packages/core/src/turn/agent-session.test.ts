import type { SandboxPolicy, ThreadSettings } from "@flint/protocol";
import { expect, test } from "vitest";
import { effectiveSettings } from "./agent-session.ts";

function policyOf(
  sandboxPolicy: SandboxPolicy,
  approvalPolicy: ThreadSettings["approvalPolicy"],
  asks = true,
) {
  const settings: ThreadSettings = { model: "a/b", cwd: "/w", approvalPolicy, sandboxPolicy, config: {} };
  return effectiveSettings(settings, asks, []).sandboxPolicy.type;
}

const ASKING: SandboxPolicy = { type: "readOnly", whenApproved: "workspaceWrite" };

test("lets an agent that asks write in the workspace, if the policy says so", () => {
  expect(policyOf(ASKING, "unlessTrusted")).toBe("workspaceWrite");
  expect(policyOf(ASKING, "always")).toBe("workspaceWrite");
});

test("stays read-only if approvals are off or the agent does not ask", () => {
  expect(policyOf(ASKING, "never")).toBe("readOnly");
  expect(policyOf(ASKING, "always", false)).toBe("readOnly");
});

test("leaves every other policy unchanged", () => {
  expect(policyOf({ type: "readOnly" }, "always")).toBe("readOnly");
  expect(policyOf({ type: "dangerFullAccess" }, "always")).toBe("dangerFullAccess");
  expect(policyOf({ type: "workspaceWrite" }, "never")).toBe("workspaceWrite");
});

test("every host goes through the thread's own network where hosts are denied", () => {
  const settings: ThreadSettings = {
    ...{ model: "a/b", cwd: "/w", approvalPolicy: "unlessTrusted", config: {} },
    ...{ sandboxPolicy: { type: "workspaceWrite" }, network: "all" },
  };
  const open = (denied: readonly string[]) => effectiveSettings(settings, true, denied).sandboxPolicy;
  expect(open([])).toMatchObject({ networkAccess: true });
  expect(open(["evil.example"])).toMatchObject({ networkAccess: false });
});
