import type { Message, ModelPart, ModelRequest, ToolResult } from "@flint/agent/model";
import { describe, expect, test } from "vitest";
import { OfflineModel } from "../offline-model.ts";
import { fileText } from "./files.ts";

const NATIVE = ["shell", "write_file", "edit_file", "read_file", "update_plan", "ask_user"];

/** The tools of a small workspace in memory. */
class Workspace {
  readonly files: Map<string, string>;
  readonly calls: string[] = [];
  /** Output of commands; any other prints nothing. */
  readonly commands: Readonly<Record<string, ToolResult>>;

  constructor(files: Readonly<Record<string, string>>, commands: Readonly<Record<string, ToolResult>> = {}) {
    this.files = new Map(Object.entries(files));
    this.commands = commands;
  }

  call(tool: string, input: Readonly<Record<string, unknown>>): ToolResult {
    this.calls.push(`${tool} ${String(input.command ?? input.path ?? input.pattern ?? "")}`.trim());
    const path = String(input.path);
    const content = this.files.get(path);
    switch (tool) {
      case "shell":
        return this.#run(String(input.command));
      case "read_file":
        return content === undefined
          ? { status: "failed", text: `There is no file ${path}.` }
          : done(content);
      case "write_file":
        this.files.set(path, String(input.content));
        return done(`Wrote ${path}.`);
      case "edit_file":
        return this.#edit(path, content ?? "", String(input.old_text), String(input.new_text));
      default:
        return done("");
    }
  }

  #run(command: string): ToolResult {
    const found = this.commands[command];
    return (
      found ?? {
        status: "done",
        exitCode: 0,
        text: command === "ls -p" ? [".git/", ...this.files.keys()].join("\n") : "",
      }
    );
  }

  #edit(path: string, text: string, from: string, to: string): ToolResult {
    if (text.split(from).length !== 2)
      return { status: "failed", text: "The old text is not there exactly once." };
    this.files.set(
      path,
      text.replace(from, () => to),
    );
    return done(`Changed ${path}.`);
  }
}

function done(text: string): ToolResult {
  return { status: "done", text };
}

/** Works on a request until the answer, with the tools of the workspace. */
async function work(
  prompt: string,
  workspace: Workspace,
  tools: readonly string[] = NATIVE,
): Promise<string> {
  const messages: Message[] = [{ role: "user", text: prompt }];
  for (let step = 0; step < 20; step += 1) {
    const parts = await stepOf(messages, tools);
    const text = parts.map((part) => (part.type === "text-delta" ? part.text : "")).join("");
    const calls = parts.filter((part) => part.type === "tool-call");
    if (calls.length === 0) return text;
    messages.push({ role: "assistant", text, calls });
    for (const { callId, tool, input } of calls)
      messages.push({ role: "tool", callId, tool, ...workspace.call(tool, input) });
  }
  throw new Error("There is no answer after 20 steps.");
}

async function stepOf(messages: readonly Message[], tools: readonly string[]): Promise<ModelPart[]> {
  const request: ModelRequest = {
    messages,
    tools: tools.map((name) => ({ name, description: name, parameters: {} })),
    purpose: "prompt",
    review: undefined,
    outputSchema: undefined,
    temperature: 0,
    reasoningEffort: undefined,
  };
  const parts: ModelPart[] = [];
  for await (const part of new OfflineModel().stream(request, new AbortController().signal)) parts.push(part);
  return parts;
}

describe("changing files", () => {
  test("replaces every occurrence of a text in one edit", async () => {
    const workspace = new Workspace({ "a.ts": "top\nconst a = 1;\nmiddle\nuse(a = 1);\nend\n" });
    expect(await work("replace `a = 1` with `b = $&2` in a.ts", workspace)).toBe(
      "I replaced `a = 1` with `b = $&2` in a.ts (2 places).",
    );
    expect(workspace.files.get("a.ts")).toBe("top\nconst b = $&2;\nmiddle\nuse(b = $&2);\nend\n");
    expect(await work("replace nothing with x in a.ts", workspace)).toBe(
      "I changed nothing: a.ts does not contain `nothing`.",
    );
  });

  test("strips line numbers from a file that was read", () => {
    expect(fileText(done("     1\tone\n     2\t\n"))).toBe("one\n");
    expect(fileText(done("1→one\n2→two"))).toBe("one\ntwo\n");
    expect(fileText(done("1\tone\ntwo\n"))).toBe("1\tone\ntwo\n");
    expect(fileText(done("1\tone\n(no newline at the end)"))).toBe("one");
    expect(fileText(done("1\tone\n(lines 1 to 1 of 9; continue with offset 2)"))).toBe("one\n");
    expect(fileText(done("(The file is empty.)"))).toBe("");
  });

  test("writes a file through the shell without changing a character", async () => {
    const workspace = new Workspace(
      {},
      { "cat -- a.txt": { status: "done", exitCode: 0, text: "it's\n$x END_OF_FILE\n" } },
    );
    await work("replace it's with `'` in a.txt", workspace, ["shell"]);
    expect(workspace.calls).toEqual([
      "shell cat -- a.txt",
      "shell cat > 'a.txt' <<'END_OF_FILE_'\n'\n$x END_OF_FILE\nEND_OF_FILE_",
    ]);
  });
});

test("explains a file by its size and beginning", async () => {
  const text = '/** Adds numbers. */\nimport { x } from "./x.ts";\n\nexport function add() {}\n';
  expect(await work("explain src/a.ts", new Workspace({ "src/a.ts": text }))).toBe(
    `src/a.ts has 4 lines.\n\n\`\`\`\n${text}\`\`\`\n\nI follow fixed rules, so I can show what is there, but not judge it.`,
  );
  expect(await work("explain gone.ts", new Workspace({}))).toBe(
    "I could not read gone.ts. There is no file gone.ts.",
  );
});

describe("the demo", () => {
  test("plans, runs real commands and writes a file, with nothing that fails", async () => {
    const workspace = new Workspace({ "README.md": "# Hi\n" });
    const summary = await work("show me what you can do", workspace);
    expect(workspace.calls).toEqual([
      "update_plan",
      "shell ls -p",
      "update_plan",
      "shell date",
      "update_plan",
      "write_file flint-demo.md",
      "update_plan",
    ]);
    expect(summary).toMatch(/^The plan is done\./);
    expect(workspace.files.get("flint-demo.md")).toBe("Flint was here. This file is safe to delete.\n");
  });

  test("reports a step that was declined", async () => {
    const workspace = new Workspace({});
    const declined: Workspace["call"] = (tool, input) =>
      tool === "write_file"
        ? { status: "declined", text: "" }
        : Workspace.prototype.call.call(workspace, tool, input);
    const summary = await work(
      "show me what you can do",
      Object.assign(Object.create(workspace), { call: declined }),
    );
    expect(summary).toContain("some steps did not succeed");
    expect(summary).toContain("I did not write flint-demo.md, because it was declined.");
  });
});

test("states what it would do if it has no tool for it", async () => {
  expect(await work("run `date`", new Workspace({}), [])).toBe(
    "I would run `date`, but I was given no tool for that.",
  );
});
