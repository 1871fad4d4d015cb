import type { Item } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { actionView, extensionView, toolView } from "./tool-view.ts";

const call = (tool: string, more: object = {}): Item<"toolCall"> => ({
  type: "toolCall",
  id: "i",
  tool,
  status: "completed",
  ...more,
});

describe("toolView", () => {
  test.each([
    ["read_file", "read"],
    ["edit_file", "edit"],
    ["Write", "edit"],
    ["search_text", "search"],
    ["list_files", "search"],
    ["Bash", "execute"],
    ["WebFetch", "fetch"],
    ["update_plan", "think"],
    ["delete_file", "delete"],
    ["rename", "move"],
    ["ExitPlanMode", "switch_mode"],
    ["something", "other"],
  ])("gives the tool %s the kind %s [S3-24]", (tool, kind) => {
    expect(toolView(call(tool))).toMatchObject({ kind, name: tool });
  });

  test("has the file and line of the arguments as its location [S3-12, S3-45]", () => {
    expect(toolView(call("read_file", { arguments: { path: "/w/a.ts", line: 12 } }))).toMatchObject({
      title: "read_file /w/a.ts",
      locations: [{ path: "/w/a.ts", line: 12 }],
    });
    expect(toolView(call("Read", { arguments: { file_path: "/w/a.ts", offset: 7 } })).locations).toEqual([
      { path: "/w/a.ts", line: 7 },
    ]);
    expect(toolView(call("Read", { arguments: { file_path: "/w/a.ts" } })).locations).toEqual([
      { path: "/w/a.ts" },
    ]);
  });

  test("shows the text blocks or the error of an MCP result [S3-43]", () => {
    const item = { type: "mcpToolCall", id: "i", server: "s", tool: "t", status: "completed" } as const;
    const result = {
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
      ],
    };
    expect(toolView({ ...item, result })).toMatchObject({
      name: "mcp__s__t",
      outputs: [{ type: "text", text: "one\ntwo" }],
      result,
    });
    expect(toolView({ ...item, status: "failed", error: "no" })).toMatchObject({
      status: "failed",
      result: { error: "no" },
    });
  });

  test.each([
    [[{ path: "/a", kind: "delete", diff: "" }], "Delete /a", "delete"],
    [[{ path: "/a", kind: "modify", diff: "", movePath: "/b" }], "Move /a to /b", "move"],
    [[{ path: "/a", kind: "add", diff: "" }], "Write /a", "edit"],
    [[], "Change files", "edit"],
  ] as const)("titles a file change by what it does (%j)", (changes, title, kind) => {
    const item = { type: "fileChange", id: "i", status: "inProgress" } as const;
    expect(toolView({ ...item, changes: [...changes] })).toMatchObject({ title, kind });
  });

  test("resolves relative paths against the working directory", () => {
    const changes = [{ path: "a.ts", kind: "modify" as const, diff: "", movePath: "sub/b.ts" }];
    const view = actionView({ kind: "fileChange", itemId: "i", changes }, "/w");
    expect(view).toMatchObject({
      title: "Move a.ts to sub/b.ts",
      locations: [{ path: "/w/sub/b.ts" }],
      outputs: [{ changes: [{ path: "/w/a.ts", movePath: "/w/sub/b.ts" }] }],
    });
  });

  test("shortens a long command in the title only", () => {
    const command = `echo ${"x".repeat(300)}\nsecond line`;
    const view = actionView({ kind: "command", itemId: "i", command, cwd: "/w" });
    expect(view.title).toHaveLength(200);
    expect(view.input).toEqual({ command, cwd: "/w" });
  });

  test("titles an extension item by its type", () => {
    expect(extensionView({ type: "weather", id: "i" })).toMatchObject({
      title: "weather",
      kind: "other",
    });
  });
});
