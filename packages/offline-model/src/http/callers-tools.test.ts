import type { ToolCall } from "@flint/agent/model";
import { describe, expect, test } from "vitest";
import { type CallersTool, CallersTools } from "./callers-tools.ts";

const text = { type: "string" };

function tool(name: string, properties: object, rest: object = {}): CallersTool {
  return { name, description: "", kind: "function", parameters: { type: "object", properties, ...rest } };
}

function outward(tools: readonly CallersTool[], call: Omit<ToolCall, "callId">, directory?: string) {
  const mapped = new CallersTools(tools, directory).outward({ type: "tool-call", callId: "c", ...call });
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
    [tool("my_shell_runner", { script: text }), { script: "date" }],
  ])("%j", (offered, input) => {
    expect(outward([offered], run)).toEqual([offered.name, input]);
  });

  test("gets a value for whatever else the caller insists on", () => {
    const insisting = tool(
      "run_command",
      { command: text, explanation: text, safe: { type: "boolean" } },
      {
        required: ["command", "explanation", "safe"],
      },
    );
    expect(outward([insisting], run)).toEqual([
      "run_command",
      { command: "date", explanation: "Asked for by the user (run_command)", safe: true },
    ]);
  });

  test("is asked for outside of the caller's sandbox where the caller wants that and its tool can say it", () => {
    const call = { type: "tool-call", callId: "c", ...run } as const;
    const exec = tool("exec_command", { cmd: text, sandbox_permissions: text, justification: text });
    const escalated = new CallersTools([exec], undefined, true).outward(call).input;
    expect(escalated).toMatchObject({ cmd: "date", sandbox_permissions: "require_escalated" });
    expect(outward([exec], run)[1]).toEqual({ cmd: "date" });
    const plain = tool("exec_command", { cmd: text });
    expect(new CallersTools([plain], undefined, true).outward(call).input).toEqual({ cmd: "date" });
  });

  test("is written as a program where tools are only called by programs", () => {
    const exec: CallersTool = {
      name: "exec",
      kind: "custom",
      description: "declare const tools: { exec_command(args: {}): void; apply_patch(input: string): void }",
      parameters: {},
    };
    expect(outward([exec], run)[1]).toContain('tools.exec_command({"cmd":"date"');
    expect(outward([exec], edit)[1]).toContain("tools.apply_patch(");
  });
});

describe("a change of a file", () => {
  test("has the caller's own fields, and a whole path where the caller works with those", () => {
    const Edit = tool("Edit", { file_path: text, old_string: text, new_string: text });
    const Write = tool("Write", { file_path: text, content: text });
    expect(outward([Edit, Write], edit, "/repo")).toEqual([
      "Edit",
      { file_path: "/repo/a.txt", old_string: "x", new_string: "y" },
    ]);
    expect(outward([Edit, Write], write)).toEqual(["Write", { file_path: "a.txt", content: "one\n\ntwo\n" }]);
  });

  test("is a patch for a caller that takes patches", () => {
    const patch: CallersTool = { name: "apply_patch", kind: "custom", description: "", parameters: {} };
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

test("a plan and a question take the form that the caller gives them", () => {
  const item = (properties: object, required: string[]) => ({
    type: "array",
    items: { type: "object", properties, required },
  });
  const status = { enum: ["pending", "in_progress", "completed"] };
  const todo = tool("TodoWrite", {
    todos: item({ content: text, status, activeForm: text }, ["content", "status", "activeForm"]),
  });
  const option = item({ label: text, description: text }, ["label", "description"]);
  const question = tool("AskUserQuestion", {
    questions: item({ question: text, header: text, options: option, multiSelect: { type: "boolean" } }, [
      ...["question", "header", "options", "multiSelect"],
    ]),
  });
  const tools = new CallersTools([todo, question], undefined);
  const [plan] = tools.descriptions;
  expect(plan).toMatchObject({
    name: "update_plan",
    parameters: { properties: { plan: { items: { properties: { status } } } } },
  });
  expect(
    outward([todo], { tool: "update_plan", input: { plan: [{ step: "Look", status: "in_progress" }] } }),
  ).toEqual(["TodoWrite", { todos: [{ content: "Look", status: "in_progress", activeForm: "Look" }] }]);
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

test("only what can be done is offered to the model, and a call of a script to the caller's own tool stays as it is", () => {
  const tools = new CallersTools(
    [tool("Grep", { pattern: text, output_mode: text }), tool("Task", {})],
    undefined,
  );
  expect(tools.descriptions.map(({ name }) => name)).toEqual(["search_text"]);
  const scripted = { type: "tool-call", callId: "script_call_1", tool: "Task", input: { a: 1 } } as const;
  expect(tools.outward(scripted)).toMatchObject({ name: "Task", input: { a: 1 }, id: "script_call_1" });
  expect(tools.outward({ ...scripted, tool: "gone", raw: "{oops" })).toMatchObject({
    name: "gone",
    text: "{oops",
  });
});

test("ids of calls never come twice, so that a caller can tell turns apart", () => {
  const tools = new CallersTools([tool("Bash", { command: text })], undefined);
  const call = { type: "tool-call", callId: "call_0_0_0", ...run } as const;
  const ids = [tools.outward(call).id, tools.outward(call).id];
  expect(new Set(ids).size).toBe(2);
  expect(ids[0]).toMatch(/^call_0_0_0_[0-9a-f]{8}$/);
});
