import type { Message, ModelPart, ModelRequest, ToolResult } from "@flint/agent/model";
import { describe, expect, test } from "vitest";
import { OfflineModel } from "../offline-model.ts";
import { fileText, fileView } from "./file-text.ts";

const NATIVE = [
  ...["shell", "write_file", "edit_file", "read_file", "list_files", "find_files", "search_text"],
  ...["update_plan", "ask_user"],
];

/** The tools of a small made-up workspace. */
class Workspace {
  readonly files: Map<string, string>;
  readonly calls: string[] = [];
  /** What commands print; anything else prints nothing. */
  readonly commands: Readonly<Record<string, ToolResult>>;

  constructor(files: Readonly<Record<string, string>>, commands: Readonly<Record<string, ToolResult>> = {}) {
    this.files = new Map(Object.entries(files));
    this.commands = commands;
  }

  call(tool: string, input: Readonly<Record<string, unknown>>): ToolResult {
    this.calls.push(`${tool} ${String(input.command ?? input.path ?? input.pattern ?? "")}`.trim());
    const path = String(input.path);
    const held = this.files.get(path);
    switch (tool) {
      case "shell":
        return this.#run(String(input.command));
      case "read_file":
        return held === undefined ? { status: "failed", text: `There is no file ${path}.` } : done(held);
      case "write_file":
        this.files.set(path, String(input.content));
        return done(`Wrote ${path}.`);
      case "edit_file":
        return this.#edit(path, held ?? "", String(input.old_text), String(input.new_text));
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
  throw new Error("It never came to an answer.");
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

describe("running the tests", () => {
  const passed = { status: "done", exitCode: 0, text: "2 passed\n" } as const;

  test.each([
    [{ "package.json": '{"scripts":{"test":"vitest"}}' }, "npm test"],
    [{ "package.json": '{"scripts":{"test":"vitest"}}', "pnpm-lock.yaml": "" }, "pnpm test"],
    [
      { "package.json": '{"scripts":{"test":"x no test specified"}}', Makefile: "test:\n\tgo test" },
      "make test",
    ],
    [{ "Cargo.toml": "" }, "cargo test"],
    [{ "go.mod": "" }, "go test ./..."],
    [{ "pyproject.toml": "" }, "python3 -m pytest"],
    [{ "test_a.py": "" }, "python3 -m pytest"],
  ])("%j is done with: %s", async (files, command) => {
    const workspace = new Workspace(files, { [command]: passed });
    expect(await work("run the tests", workspace)).toBe(
      `The tests pass. \`${command}\` ended with exit code 0 and printed:\n\n\`\`\`\n2 passed\n\`\`\``,
    );
    expect(workspace.calls[0]).toBe("shell ls -p");
    expect(workspace.calls.at(-1)).toBe(`shell ${command}`);
  });

  test("says what it looked for if there is no test command", async () => {
    const workspace = new Workspace({ "notes.txt": "x" });
    expect(await work("run the tests", workspace)).toMatch(
      /^I found no way to run the tests here\. I looked for/,
    );
    expect(workspace.calls).toEqual(["shell ls -p"]);
  });
});

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

  test("appends a line, also after a repeated last line and to a new file", async () => {
    const workspace = new Workspace({ "a.txt": "x\ny\nx\n", "b.txt": "no end" });
    await work("add a line `z` to a.txt", workspace);
    await work("append `more` to b.txt", workspace);
    await work("add a line `first` to c.txt", workspace);
    expect(Object.fromEntries(workspace.files)).toEqual({
      "a.txt": "x\ny\nx\nz\n",
      "b.txt": "no end\nmore",
      "c.txt": "first\n",
    });
  });

  test("appends a line to a partly read file with a command", async () => {
    const workspace = new Workspace({ "a.txt": "1\tx\n(lines 1 to 1 of 9000; continue with offset 2)" });
    expect(await work("add a line `it's` to a.txt", workspace)).toBe("I added the line to a.txt.");
    expect(workspace.calls.at(-1)).toBe("shell printf '%s\\n' 'it'\\''s' >> 'a.txt'");
  });

  test("strips line numbers from a file that was read", () => {
    expect(fileText(done("     1\tone\n     2\t\n"))).toBe("one\n");
    expect(fileText(done("1→one\n2→two"))).toBe("one\ntwo\n");
    expect(fileText(done("1\tone\ntwo\n"))).toBe("1\tone\ntwo\n");
    expect(fileView(done("1\tone\n(no newline at the end)"))).toEqual({ text: "one", isWhole: true });
    expect(fileView(done("1\tone\n(lines 1 to 1 of 9; continue with offset 2)"))).toEqual({
      text: "one\n",
      isWhole: false,
    });
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

describe("reading", () => {
  test("finds files and text with a command", async () => {
    const workspace = new Workspace({});
    await work("find files named config", workspace);
    expect(await work("where is it's used?", workspace)).toBe("I found no line for `it's` here.");
    expect(workspace.calls).toEqual([
      "shell find . -name node_modules -prune -o -name .git -prune -o -name '*config*' -print",
      "shell grep -rnIF --exclude-dir=node_modules --exclude-dir=.git -e 'it'\\''s' .",
    ]);
  });

  test("explains a file by its size and beginning", async () => {
    const text =
      '/** Adds numbers. */\nimport { x } from "./x.ts";\n\nexport function add() {}\nclass Sum {}\n';
    expect(await work("explain src/a.ts", new Workspace({ "src/a.ts": text }))).toBe(
      `src/a.ts has 5 lines.\n\nIt begins:\n\n\`\`\`\n${text}\`\`\`\n\nI follow fixed rules: I can tell what is there, but not judge it.`,
    );
    expect(await work("explain gone.ts", new Workspace({}))).toBe(
      "I could not read gone.ts. There is no file gone.ts.",
    );
  });

  test("describes a project by its README and package.json", async () => {
    const files = {
      "README.md": "# Sums\n\n[badge]\n\nA small library that adds\nnumbers well.\n",
      "package.json": '{"name":"sums","description":"Adds.","scripts":{"test":"x","build":"y"}}',
      "src/": "",
    };
    const answer = await work("what does this project do?", new Workspace(files));
    expect(answer).toContain('The README calls it "Sums".');
    expect(answer).toContain("It says: A small library that adds numbers well.");
    expect(answer).toContain("The package is named sums.\n\npackage.json describes it: Adds.");
    expect(await work("what does this project do?", new Workspace({}))).toMatch(/^Nothing here says/);
  });
});

describe("the demo", () => {
  test("plans, runs real commands and appends a line to a file", async () => {
    const workspace = new Workspace({ "README.md": "# Hi\n" });
    const summary = await work("show me what you can do", workspace);
    expect(workspace.calls).toEqual([
      "update_plan",
      "shell ls -p",
      "update_plan",
      "shell date",
      "update_plan",
      "read_file flint-demo.md",
      "write_file flint-demo.md",
      "update_plan",
    ]);
    expect(summary).toMatch(/^The plan is done\./);
    await work("show me what you can do", workspace);
    const line = "- Flint was here. This file is safe to delete.\n";
    expect(workspace.files.get("flint-demo.md")).toBe(`${line}${line}`);
  });

  test("says what was declined", async () => {
    const workspace = new Workspace({});
    const declined: Workspace["call"] = (tool, input) =>
      tool === "write_file"
        ? { status: "declined", text: "" }
        : Workspace.prototype.call.call(workspace, tool, input);
    const summary = await work(
      "show me what you can do",
      Object.assign(Object.create(workspace), { call: declined }),
    );
    expect(summary).toContain("not every step worked");
    expect(summary).toContain("I did not write flint-demo.md, because it was declined.");
  });
});

test("says what it would do if it has no tool for it", async () => {
  expect(await work("run `date`", new Workspace({}), [])).toBe(
    "I would run `date`, but I was given no tool for that.",
  );
});
