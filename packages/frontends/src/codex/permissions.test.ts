import { describe, expect, test } from "vitest";
import { ApprovalWords } from "./approval-words.ts";
import { PERMISSION_PROFILES, sandboxWanted } from "./permissions.ts";

const READ_ONLY = { type: "readOnly", whenApproved: "workspaceWrite" };

describe("a set of permissions", () => {
  test("is one of the three that Codex has built in", () => {
    expect(PERMISSION_PROFILES).toEqual(
      [":read-only", ":workspace", ":danger-full-access"].map((id) => ({
        id,
        description: null,
        allowed: true,
      })),
    );
  });

  test("means a sandbox", () => {
    expect(sandboxWanted(":read-only", "sandbox", null)).toEqual({ sandbox: READ_ONLY });
    expect(sandboxWanted(":danger-full-access", "sandbox", null)).toEqual({
      sandbox: { type: "dangerFullAccess" },
    });
  });

  test("that is not named leaves the sandbox as it was said, or as it is", () => {
    expect(sandboxWanted(null, "sandbox", "workspace-write")).toEqual({ sandbox: "workspace-write" });
    expect(sandboxWanted(undefined, "sandbox", undefined)).toEqual({});
  });

  test.each(["read-only", { type: "readOnly" }])(
    "only to read holds until more is approved: %j",
    (sandbox) => {
      expect(sandboxWanted(null, "sandbox", sandbox)).toEqual({ sandbox: READ_ONLY });
    },
  );

  test("beside a sandbox is refused in the words of Codex", () => {
    expect(() => sandboxWanted(":workspace", "sandboxPolicy", { type: "readOnly" })).toThrow(
      "`permissions` cannot be combined with `sandboxPolicy`",
    );
  });

  test("that there is not is refused in the words of Codex", () => {
    expect(() => sandboxWanted(":nope", "sandbox", null)).toThrow(
      "failed to load configuration: default_permissions refers to unknown built-in profile `:nope`",
    );
  });

  test("is told again by its name, until a sandbox is chosen in another way", () => {
    const words = new ApprovalWords();
    expect(words.profileOf("t", { type: "readOnly" })).toBeNull();
    words.note("t", { permissions: ":read-only", approvalPolicy: "on-request" });
    words.note("t", { approvalPolicy: "untrusted" });
    words.copy("t", "fork");
    expect(words.profileOf("t", { type: "readOnly" })).toEqual({ id: ":read-only", extends: null });
    expect(words.profileOf("t", { type: "dangerFullAccess" })).toBeNull();
    words.note("t", { sandboxPolicy: { type: "readOnly" } });
    expect(words.profileOf("t", { type: "readOnly" })).toBeNull();
    expect(words.of("t", "unlessTrusted")).toBe("untrusted");
    expect(words.profileOf("fork", { type: "readOnly" })).toEqual({ id: ":read-only", extends: null });
  });
});
