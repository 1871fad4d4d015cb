import type { ThreadSettings } from "@flint/protocol";
import { PERMISSION_MODES, permissionMode } from "@flint/server/config";
import { expect, test } from "vitest";
import { headerOf, imageSupportWarning, permissionsText } from "./header.ts";

const settings: ThreadSettings = {
  model: "flint/offline",
  cwd: "/w",
  approvalPolicy: "unlessTrusted",
  sandboxPolicy: { type: "workspaceWrite" },
  config: {},
};

test("names the agent, the model and the permissions of a run", () => {
  expect(headerOf(settings, " · ")).toBe("flint · offline · permissions: ask");
  expect(headerOf({ ...settings, model: "claude/default" }, " · ")).toBe(
    "claude · its default model · permissions: ask",
  );
  expect(headerOf({ ...settings, model: "claude/default" }, " · ", true)).toBe(
    "claude · offline · permissions: ask",
  );
  expect(headerOf({ ...settings, model: "claude/opus", acceptEdits: true }, " · ")).toBe(
    "claude · opus · permissions: accept-edits",
  );
});

test("says which runs cannot see images: those on the offline model, whatever the agent", () => {
  expect(imageSupportWarning({ model: "flint/offline" })).toBe(
    "The offline model cannot see images. Choose another model with -m.",
  );
  expect(imageSupportWarning({ model: "claude/default" }, true)).toBe(
    "The offline model cannot see images. Leave out --offline to use another model.",
  );
  expect(imageSupportWarning({ model: "claude/default" })).toBeUndefined();
});

test("names each permission mode, and what differs from all of them", () => {
  const named = PERMISSION_MODES.map((mode) => permissionsText({ ...settings, ...permissionMode(mode) }));
  expect(named).toEqual(PERMISSION_MODES);
  expect(
    permissionsText({ ...settings, approvalPolicy: "always", sandboxPolicy: { type: "readOnly" } }),
  ).toBe("approval always, sandbox read-only");
});
