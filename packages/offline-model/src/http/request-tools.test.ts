import type { ToolCall } from "@flint/agent/model";
import { describe, expect, test } from "vitest";
import { type RequestTool, RequestTools } from "./request-tools.ts";

const text = { type: "string" };

function tool(name: string, properties: object, rest: object = {}): RequestTool {
  return { name, description: "", kind: "function", parameters: { type: "object", properties, ...rest } };
}

function outward(tools: readonly RequestTool[], call: Omit<ToolCall, "callId">, directory?: string) {
  const mapped = new RequestTools(tools, directory).toRequest({ type: "tool-call", callId: "c", ...call });
  return [mapped.name, mapped.kind === "custom" ? mapped.text : mapped.input];
}

const run = { tool: "shell", input: { command: "date" } };
const edit = { tool: "edit_file", input: { path: "a.txt", old_text: "x", new_text: "y" } };
const write = { tool: "write_file", input: { path: "a.txt", content: "one\n\ntwo\n" } };

describe("a command", () => {
  test.each([
    [tool("Bash", { command: text, description: text }, { required: ["command"] }), { command: "date" }],
    [tool("shell", { command: { type: "array" } }), { command: ["bash", "-lc", "date"] }],
    [tool("exec_command", { cmd: text }), { cmd: "date" }],
    [tool("run_terminal_cmd", { command: text, is_background: { type: "boolean" } }), { command: "date" }],
  ])("%j", (offered, input) => {
    expect(outward([offered], run)).toEqual([offered.name, input]);
  });

  test("asks to run outside of the client's sandbox if that is required and the tool has a field for it", () => {
    const call = { type: "tool-call", callId: "c", ...run } as const;
    const exec = tool("exec_command", { cmd: text, sandbox_permissions: text, justification: text });
    const escalated = new RequestTools([exec], undefined, true).toRequest(call).input;
    expect(escalated).toMatchObject({ cmd: "date", sandbox_permissions: "require_escalated" });
    expect(outward([exec], run)[1]).toEqual({ cmd: "date" });
    const plain = tool("exec_command", { cmd: text });
    expect(new RequestTools([plain], undefined, true).toRequest(call).input).toEqual({ cmd: "date" });
  });

  test("is a program in Codex's code mode", () => {
    const exec: RequestTool = {
      name: "exec",
      kind: "custom",
      description: "declare const tools: { exec_command(args: {}): void; apply_patch(input: string): void }",
      parameters: {},
    };
    expect(outward([exec], run)[1]).toContain('tools.exec_command({"cmd":"date"');
    expect(outward([exec], edit)[1]).toContain("tools.apply_patch(");
  });
});

describe("a file change", () => {
  test("has the fields of the request's tool, with an absolute path where that is expected", () => {
    const Edit = tool("Edit", { file_path: text, old_string: text, new_string: text });
    const Write = tool("Write", { file_path: text, content: text });
    expect(outward([Edit, Write], edit, "/repo")).toEqual([
      "Edit",
      { file_path: "/repo/a.txt", old_string: "x", new_string: "y" },
    ]);
    expect(outward([Edit, Write], write)).toEqual(["Write", { file_path: "a.txt", content: "one\n\ntwo\n" }]);
  });

  test("is a patch if the request offers apply_patch", () => {
    const patch: RequestTool = { name: "apply_patch", kind: "custom", description: "", parameters: {} };
    expect(outward([patch], write)).toEqual([
      "apply_patch",
      "*** Begin Patch\n*** Add File: a.txt\n+one\n+\n+two\n*** End Patch\n",
    ]);
    expect(outward([tool("apply_patch", { input: text })], edit)).toEqual([
      "apply_patch",
      { input: "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch\n" },
    ]);
  });
});

test("a question has the fields that the tool of the request has", () => {
  const item = (properties: object) => ({ type: "array", items: { type: "object", properties } });
  const question = tool("AskUserQuestion", {
    questions: item({
      question: text,
      header: text,
      options: item({ label: text, description: text }),
      multiSelect: { type: "boolean" },
    }),
  });
  const asked = { questions: [{ id: "answer", question: "Which colour?", options: [{ label: "red" }] }] };
  expect(outward([question], { tool: "ask_user", input: asked })).toEqual([
    "AskUserQuestion",
    {
      questions: [
        {
          question: "Which colour?",
          header: "Which colour",
          options: [{ label: "red", description: "red" }],
          multiSelect: false,
        },
      ],
    },
  ]);
});

test("offers the model only tools that match, and leaves scripted calls as they are", () => {
  const tools = new RequestTools([tool("Read", { file_path: text }), tool("Task", {})], undefined);
  expect(tools.descriptions.map(({ name }) => name)).toEqual(["read_file"]);
  const scripted = { type: "tool-call", callId: "script_call_1", tool: "Task", input: { a: 1 } } as const;
  expect(tools.toRequest(scripted)).toMatchObject({ name: "Task", input: { a: 1 }, id: "script_call_1" });
  expect(tools.toRequest({ ...scripted, tool: "gone", raw: "{oops" })).toMatchObject({
    name: "gone",
    text: "{oops",
  });
});

test("a scripted call of a tool in a namespace names the namespace", () => {
  const spawn = { ...tool("spawn_agent", { message: text }), namespace: "collaboration" };
  const scripted = { type: "tool-call", callId: "script_call_1", tool: "spawn_agent", input: {} } as const;
  expect(new RequestTools([spawn], undefined).toRequest(scripted).namespace).toBe("collaboration");
});

test("never repeats a call id", () => {
  const tools = new RequestTools([tool("Bash", { command: text })], undefined);
  const call = { type: "tool-call", callId: "call_0_0_0", ...run } as const;
  const ids = [tools.toRequest(call).id, tools.toRequest(call).id];
  expect(new Set(ids).size).toBe(2);
  expect(ids[0]).toMatch(/^call_0_0_0_[0-9a-f]{8}$/);
});
