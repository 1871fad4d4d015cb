import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import type { ToolCall, ToolDescription } from "@flint/agent/model";
import { isRecord } from "@flint/protocol";
import type { ScriptedCall } from "../script.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A tool that a request offers. */
export interface RequestTool {
  readonly name: string;
  readonly description: string;
  /** `custom`: its input is one free string. */
  readonly kind: "function" | "custom";
  readonly parameters: Fields;
  readonly namespace?: string;
}

/** A call of a tool of the request. The text of a custom tool is its whole input. */
export interface RequestCall extends Pick<RequestTool, "name" | "kind" | "namespace"> {
  readonly id: string;
  readonly input: Fields;
  readonly text: string;
}

/** A tool of the request that does what one of Flint's tools does. */
interface Match {
  readonly tool: RequestTool;
  /** The request's names for Flint's fields. */
  readonly names: Readonly<Record<string, string>>;
  /** The whole input is a patch or a program. */
  readonly form?: "patch" | "program";
}

/** The tools that the offline model calls. */
type FlintTool = "shell" | "read_file" | "write_file" | "edit_file" | "update_plan" | "ask_user";

/** The names that agents have for a tool and its fields, the likeliest first. */
interface ToolAliases {
  /** In lower case, without punctuation. */
  readonly names: readonly string[];
  readonly fields: Readonly<Record<string, readonly string[]>>;
}

const PATH = ["file_path", "path", "filePath", "absolute_path"];

/** Every tool of the offline model in the words of other agents. */
const TOOL_ALIASES: Readonly<Record<FlintTool, ToolAliases>> = {
  shell: {
    names: ["shell", "bash", "execcommand", "shellcommand", "runshellcommand", "runterminalcmd"],
    fields: { command: ["command", "cmd"], background: ["background", "run_in_background", "is_background"] },
  },
  read_file: { names: ["readfile", "read", "view"], fields: { path: PATH } },
  write_file: {
    names: ["writefile", "write", "createfile"],
    fields: { path: PATH, content: ["content", "contents", "file_text"] },
  },
  edit_file: {
    names: ["editfile", "edit", "strreplace", "replace"],
    fields: {
      path: PATH,
      old_text: ["old_text", "old_string", "old_str", "oldString"],
      new_text: ["new_text", "new_string", "new_str", "newString"],
    },
  },
  update_plan: { names: ["updateplan"], fields: { plan: ["plan"], explanation: ["explanation"] } },
  ask_user: {
    names: ["askuser", "askuserquestion", "requestuserinput"],
    fields: { questions: ["questions"] },
  },
};

/** The fields that a tool may lack. */
const OPTIONAL_FIELDS: ReadonlySet<string> = new Set(["explanation", "background"]);

// The keys of a record are exactly the names of its type.
const FLINT_TOOLS = Object.keys(TOOL_ALIASES) as FlintTool[];

/** The fields with which Codex's tools request to run a command outside of Codex's own sandbox. */
const ESCALATION = { sandbox_permissions: "require_escalated", justification: "May this command be run?" };

/** The tools of Codex that a program of its code mode calls in place of Flint's. */
const NESTED: Partial<Record<FlintTool, string>> = {
  shell: "exec_command",
  write_file: "apply_patch",
  edit_file: "apply_patch",
};

/** The tools of one request, as far as Flint's tools can be mapped to them. */
export class RequestTools {
  readonly #tools: readonly RequestTool[];
  readonly #matches: ReadonlyMap<string, Match>;
  readonly #directory: string | undefined;
  readonly #escalation: Fields;

  /**
   * `directory` is where the client works, if known: some tools only take absolute paths. `escalates`: every command
   * asks to run outside of the client's own sandbox.
   */
  constructor(tools: readonly RequestTool[], directory: string | undefined, escalates = false) {
    this.#tools = tools;
    this.#directory = directory;
    this.#escalation = escalates ? ESCALATION : {};
    this.#matches = new Map(
      FLINT_TOOLS.flatMap((name) => {
        const match = matchFor(name, tools);
        return match === undefined ? [] : [[name, match] as const];
      }),
    );
  }

  get count(): number {
    return this.#tools.length;
  }

  /** The tools of Flint that this request has a tool for. */
  get descriptions(): ToolDescription[] {
    return [...this.#matches].map(([name, { tool }]) => ({
      name,
      description: tool.description,
      parameters: tool.parameters,
    }));
  }

  /** Maps a call of the model to a tool of the request. A script may call a tool of the request by its own name. */
  toRequest(call: ScriptedCall): RequestCall {
    const isOwn = /^call_\d+_\d+_\d+$/.test(call.callId);
    const id = isOwn ? `${call.callId}_${randomBytes(4).toString("hex")}` : call.callId;
    const own = this.#tools.find(({ name }) => name === call.tool);
    const match = this.#matches.get(call.tool);
    const isScripted = call.callId.startsWith("script_") || call.raw !== undefined;
    if (match === undefined || (own !== undefined && isScripted)) {
      const { name = call.tool, kind = "function", namespace } = own ?? {};
      const { input, raw } = call;
      const free = kind === "custom" && typeof input.input === "string" ? input.input : undefined;
      const text = raw ?? free ?? JSON.stringify(input);
      return { id, name, kind, input, text, ...(namespace === undefined ? {} : { namespace }) };
    }
    return this.#mapped(id, call, match);
  }

  /** Maps a call in the history of the request back to Flint's tool. */
  fromRequest(callId: string, name: string, input: unknown): ToolCall {
    const [tool, match] = [...this.#matches].find(([, each]) => each.tool.name === name) ?? [name];
    const fields = isRecord(input) ? input : { input };
    const command = tool === "shell" ? fields[match?.names.command ?? "command"] : undefined;
    if (command === undefined) return { callId, tool, input: fields };
    return { callId, tool, input: { command: String(Array.isArray(command) ? command.at(-1) : command) } };
  }

  #mapped(id: string, { tool, input }: ToolCall, { tool: theirs, names, form }: Match): RequestCall {
    const { name, kind, namespace } = theirs;
    const free =
      form === "patch"
        ? patchFor(tool, input)
        : form === "program"
          ? programFor(tool, input, this.#escalation)
          : "";
    const own =
      form === undefined ? this.#fields(tool, theirs, names, input) : { [names.text ?? "input"]: free };
    const text = kind === "custom" ? free : JSON.stringify(own);
    return { id, name, kind, input: own, text, ...(namespace === undefined ? {} : { namespace }) };
  }

  #fields(tool: string, theirs: RequestTool, names: Match["names"], input: Fields): Fields {
    const properties = propertiesOf(theirs);
    const fields = Object.entries(names).flatMap(([ours, name]) => {
      const value = this.#value(ours, input[ours], name, properties[name]);
      return value === undefined ? [] : [[name, value] as const];
    });
    const escalation = tool === "shell" && "sandbox_permissions" in properties ? this.#escalation : {};
    return { ...Object.fromEntries(fields), ...escalation };
  }

  #value(field: string, value: unknown, name: string, schema: unknown): unknown {
    if (field === "questions") return questionsFor(value, schema);
    // Tools that start programs without a shell take the command as a list.
    if (field === "command" && isRecord(schema) && schema.type === "array") return ["bash", "-lc", value];
    const isAbsolute = field === "path" && /^file_?path$|^absolute/i.test(name);
    return isAbsolute && this.#directory !== undefined
      ? posix.resolve(this.#directory, String(value))
      : value;
  }
}

function matchFor(name: FlintTool, tools: readonly RequestTool[]): Match | undefined {
  const { names, fields } = TOOL_ALIASES[name];
  for (const alias of names) {
    for (const tool of tools.filter((each) => plain(each.name) === alias)) {
      const properties = propertiesOf(tool);
      const found = Object.entries(fields).map(([ours, theirs]) => [
        ours,
        theirs.find((each) => each in properties),
      ]);
      if (found.every(([ours = "", theirs]) => theirs !== undefined || OPTIONAL_FIELDS.has(ours)))
        return { tool, names: Object.fromEntries(found.filter(([, theirs]) => theirs !== undefined)) };
    }
  }
  return patchMatch(name, tools) ?? programMatch(name, tools);
}

/** The tool that takes patches, as its whole input or in one field. */
function patchMatch(name: FlintTool, tools: readonly RequestTool[]): Match | undefined {
  const tool = tools.find((each) => plain(each.name) === "applypatch");
  if (tool === undefined || NESTED[name] !== "apply_patch") return undefined;
  const field = ["input", "patch"].find((each) => each in propertiesOf(tool)) ?? "input";
  return { tool, names: { text: field }, form: "patch" };
}

/** The tool of Codex's code mode: its newest models call all other tools from a program they write. */
function programMatch(name: FlintTool, tools: readonly RequestTool[]): Match | undefined {
  const nested = NESTED[name];
  const tool = tools.find(
    (each) => each.kind === "custom" && each.name === "exec" && each.description.includes(`${nested}(`),
  );
  return tool === undefined || nested === undefined ? undefined : { tool, names: {}, form: "program" };
}

function propertiesOf({ parameters }: RequestTool): Fields {
  return isRecord(parameters.properties) ? parameters.properties : {};
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, "");
}

/** A file change in the patch format of Codex. An edit must consist of whole lines. */
function patchFor(tool: string, { path, content, old_text, new_text }: Fields): string {
  const body =
    tool === "write_file"
      ? [`*** Add File: ${path}`, ...marked("+", content)]
      : [`*** Update File: ${path}`, "@@", ...marked("-", old_text), ...marked("+", new_text)];
  return ["*** Begin Patch", ...body, "*** End Patch", ""].join("\n");
}

function marked(mark: string, text: unknown): string[] {
  const lines = String(text).replace(/\n$/, "");
  return lines === "" ? [] : lines.split("\n").map((line) => `${mark}${line}`);
}

/** A program for Codex's code mode that makes one call and prints its result; `extra` goes with a command. */
function programFor(tool: string, input: Fields, extra: Fields): string {
  if (tool !== "shell") return `await tools.apply_patch(${JSON.stringify(patchFor(tool, input))});\n`;
  // A command that runs longer than this continues in the background.
  const yieldMs = input.background === true ? 500 : 30_000;
  const options = { cmd: input.command, yield_time_ms: yieldMs, ...extra };
  const call = `await tools.exec_command(${JSON.stringify(options)})`;
  return `const done = ${call};\ntext(\`Exit code: \${done.exit_code}\\nOutput:\\n\${done.output}\`);\n`;
}

/** Questions with the fields that the schema of the request's tool has for them. */
function questionsFor(questions: unknown, schema: unknown): readonly Fields[] {
  const fields = itemFields(schema);
  return objectsIn(questions).map(({ id, question, options }) => {
    const labels = objectsIn(options).map(({ label }) => label);
    const choices = (labels.length === 0 ? ["Yes", "No"] : labels).map((label) =>
      only({ label, description: label }, itemFields(fields.options)),
    );
    const header = String(question).replace(/\?$/, "").slice(0, 12);
    return only({ id, question, header, options: choices, multiSelect: false }, fields);
  });
}

function only(fields: Fields, known: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in known));
}

function itemFields(list: unknown): Fields {
  const item = isRecord(list) ? list.items : undefined;
  return isRecord(item) && isRecord(item.properties) ? item.properties : {};
}

function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
