import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import type { ToolCall, ToolDescription } from "@flint/agent/model";
import { isRecord } from "@flint/protocol";
import type { ScriptedCall } from "../script.ts";
import { type FlintTool, patchFor, programFor, questionsFor, TOOL_ALIASES } from "./tool-input.ts";

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

/** How Codex's tools ask to run a command outside of Codex's own sandbox. */
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
      const { name = call.tool, kind = "function" } = own ?? {};
      const { input, raw } = call;
      const free = kind === "custom" && typeof input.input === "string" ? input.input : undefined;
      return { id, name, kind, input, text: raw ?? free ?? JSON.stringify(input) };
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

// The keys of a record are exactly the names of its type.
const FLINT_TOOLS = Object.keys(TOOL_ALIASES) as FlintTool[];

function matchFor(name: FlintTool, tools: readonly RequestTool[]): Match | undefined {
  const { names, fields } = TOOL_ALIASES[name];
  for (const alias of names) {
    for (const tool of tools.filter((each) => plain(each.name) === alias)) {
      const properties = propertiesOf(tool);
      const found = Object.entries(fields).map(([ours, theirs]) => [
        ours,
        theirs.find((each) => each in properties),
      ]);
      if (found.every(([ours, theirs]) => theirs !== undefined || ours === "explanation"))
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
