import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs";
import { CommandSandbox } from "@flint/host/sandbox";
import type { ApprovalPolicy, Decision, Permission } from "@flint/protocol";
import { temporaryFolder } from "@flint/testkit";
import { expect, test } from "vitest";
import { callTool } from "../../testing/recorded-turn.ts";
import { applyPatchTool } from "./apply-patch.ts";
import { FileVersions } from "./file-versions.ts";
import { writeFileTool } from "./write-tools.ts";

/** A workspace and a folder beside it, and file tools with a real sandbox to ask about folders. */
async function setUp(decide: () => Decision["outcome"] = () => "allow") {
  const [workspace, outside, home] = await Promise.all([
    temporaryFolder(),
    temporaryFolder(),
    temporaryFolder(),
  ]);
  const sandbox = new CommandSandbox({ environment: { ...process.env, HOME: home.path } });
  const options = { sandbox, decide, settings: { approvalPolicy: "unless-trusted" as ApprovalPolicy } };
  const run = async (tool: "write" | "patch", input: Record<string, unknown>) => {
    const made = tool === "write" ? writeFileTool(new FileVersions()) : applyPatchTool(new FileVersions());
    const { outcome, turn } = await callTool(made, input, { path: workspace.path }, options);
    const needs = turn.actions.map((action): Permission | undefined => action.needs);
    return { outcome, needs, item: turn.completed("fileChange").at(-1) };
  };
  return { workspace, outside, home, run };
}

test("a file outside of the workspace is written once the user has allowed its folder", async () => {
  const { outside, run } = await setUp();
  const path = outside.join("new/deep/a.txt");
  const { needs, item } = await run("write", { path, content: "one\n" });
  expect(needs).toEqual([{ write: [outside.path] }]);
  expect(item).toMatchObject({ status: "completed", changes: [{ path, kind: "add" }] });
  expect(readFileSync(path, "utf8")).toBe("one\n");
  const patch = `--- ${path}\n+++ ${path}\n@@ -1 +1 @@\n-one\n+two\n`;
  expect(await run("patch", { patch })).toMatchObject({ needs: [{ write: [outside.join("new/deep")] }] });
  expect(readFileSync(path, "utf8")).toBe("two\n");
});

test("a file outside is not written if the user declines", async () => {
  const { outside, run } = await setUp(() => "deny");
  const { item } = await run("write", { path: outside.join("a.txt"), content: "x" });
  expect([item?.status, readdirSync(outside.path)]).toEqual(["declined", []]);
});

test("a folder that has become a link by the time of the answer is not written", async () => {
  const elsewhere = await temporaryFolder();
  const moved: { path?: string } = {};
  const { outside, run } = await setUp(() => {
    renameSync(outside.join("shared"), outside.join("moved"));
    symlinkSync(elsewhere.path, outside.join("shared"));
    moved.path = outside.join("moved");
    return "allow";
  });
  mkdirSync(outside.join("shared"));
  const { item } = await run("write", { path: outside.join("shared/a.txt"), content: "x" });
  expect(item).toMatchObject({ status: "failed" });
  expect([readdirSync(elsewhere.path), readdirSync(moved.path ?? "")]).toEqual([[], []]);
});

test("another folder in the place of the one that was shown is not written", async () => {
  const { outside, run } = await setUp(() => {
    renameSync(outside.join("shared"), outside.join("moved"));
    mkdirSync(outside.join("shared"));
    return "allow";
  });
  mkdirSync(outside.join("shared"));
  const { item } = await run("write", { path: outside.join("shared/a.txt"), content: "x" });
  expect(item).toMatchObject({ status: "failed", output: expect.stringContaining("was replaced") });
  expect(existsSync(outside.join("shared/a.txt"))).toBe(false);
});

test("what configures agents, shells, version control or the system is refused without asking", async () => {
  const { outside, workspace, home, run } = await setUp();
  mkdirSync(home.join(".config"));
  mkdirSync(outside.join("repo/.git/hooks"), { recursive: true });
  symlinkSync(outside.path, workspace.join("link"));
  const refused = [
    ...[".bashrc", "x", ".config/x"].map((name) => home.join(name)),
    ...[".claude/settings.json", "repo/.git/hooks/x", ".mcp.json"].map((name) => outside.join(name)),
    ...["/etc/x", workspace.join("link/x"), "link/x"],
  ];
  for (const path of refused) {
    const { needs, item } = await run("write", { path, content: "x" });
    expect({ path, needs, status: item?.status }).toEqual({ path, needs: [], status: "failed" });
  }
});
