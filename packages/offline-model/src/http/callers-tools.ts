import { randomBytes } from "node:crypto";
import { posix } from "node:path";
import type { ToolCall, ToolDescription } from "@flint/agent/model";
import { valueFitting } from "../intents/json-answer.ts";
import type { ScriptedCall } from "../script/script-player.ts";
import { programFor, runsProgramsFor } from "./code-mode.ts";
import { patchFor } from "./patch.ts";
import { planInput, questionInput } from "./structured-input.ts";
import { type FlintTool, ROLES, type Role } from "./tool-roles.ts";

type Schema = Readonly<Record<string, unknown>>;
type Input = Readonly<Record<string, unknown>>;

/** A tool as a caller of the server offers it. */
export interface CallersTool {
  readonly name: string;
  readonly description: string;
  /** `custom`: takes one free text; `localShell`: the shell that the Responses shape has built in. */
  readonly kind: "function" | "custom" | "localShell";
  readonly parameters: Schema;
  /** The group it was offered in. */
  readonly namespace?: string;
}

/** A call as the caller understands it. The text of a custom tool is its whole input. */
export interface OutwardCall {
  readonly id: string;
  readonly name: string;
  readonly kind: CallersTool["kind"];
  readonly namespace?: string;
  readonly input: Input;
  readonly text: string;
}

/** One of Flint's tools, done with one of the caller's. */
interface Match {
  readonly tool: CallersTool;
  /** The caller's names for the fields. */
  readonly names: Readonly<Record<string, string>>;
  /** The whole input is a text of this form. */
  readonly form?: "patch" | "program";
}

/** How Codex's tools are asked to run a command outside of Codex's own sandbox. */
const ESCALATION = { sandbox_permissions: "require_escalated", justification: "May this command be run?" };

/** The tools of one caller, as far as Flint's tools can be done with them. */
export class CallersTools {
  readonly #tools: readonly CallersTool[];
  readonly #matches = new Map<FlintTool, Match>();
  readonly #directory: string | undefined;
  readonly #escalation: Input;

  /**
   * `directory` is where the caller works, if it said so: some tools only take whole paths. `escalates`: each command is
   * to be asked for with the right to run outside of the caller's own sandbox.
   */
  constructor(tools: readonly CallersTool[], directory: string | undefined, escalates = false) {
    this.#tools = tools;
    this.#directory = directory;
    this.#escalation = escalates ? ESCALATION : {};
    for (const role of ROLES) {
      const match = matchFor(role, tools);
      if (match !== undefined) this.#matches.set(role.tool, match);
    }
  }

  get count(): number {
    return this.#tools.length;
  }

  /** Flint's tools that can be done here, as the offline model is told of them. */
  get descriptions(): ToolDescription[] {
    return [...this.#matches].map(([name, { tool, names }]) => ({
      name,
      description: tool.description,
      parameters: name === "update_plan" ? planSchema(tool.parameters, names.plan ?? "plan") : {},
    }));
  }

  /** A call of the model in the caller's words. A tool that the caller has by that very name is called as it is. */
  outward(call: ScriptedCall): OutwardCall {
    const id = /^call_\d+_\d+_\d+$/.test(call.callId)
      ? `${call.callId}_${randomBytes(4).toString("hex")}`
      : call.callId;
    const own = this.#tools.find(({ name }) => name === call.tool);
    const match = [...this.#matches].find(([name]) => name === call.tool);
    const isScripted = call.callId.startsWith("script_") || call.raw !== undefined;
    if (match === undefined || (own !== undefined && isScripted)) {
      const { name = call.tool, kind = "function" } = own ?? {};
      const text = call.raw ?? JSON.stringify(call.input);
      return { id, name, kind, input: call.input, text: kind === "custom" ? customText(call) : text };
    }
    return this.#mapped(id, match[0], match[1], call.input);
  }

  /** What a call of the caller's history was in Flint's words. */
  inward(callId: string, name: string, input: unknown): ToolCall {
    const found = [...this.#matches].find(([, { tool }]) => tool.name === name);
    const given = typeof input === "object" && input !== null ? { ...input } : { input };
    if (found === undefined) return { callId, tool: name, input: given };
    const [tool, { names }] = found;
    const command: unknown = tool === "shell" ? Reflect.get(given, names.command ?? "command") : undefined;
    if (command === undefined) return { callId, tool, input: given };
    return {
      callId,
      tool,
      input: { command: Array.isArray(command) ? String(command.at(-1)) : String(command) },
    };
  }

  #mapped(id: string, tool: FlintTool, { tool: theirs, names, form }: Match, input: Input): OutwardCall {
    const { name, kind, namespace } = theirs;
    const free = form === undefined ? "" : this.#text(form, tool, input);
    const own =
      form === undefined ? this.#fields(tool, theirs, names, input) : { [names.text ?? "input"]: free };
    const whole = { ...requiredOf(theirs, own), ...own };
    const text = kind === "custom" ? free : JSON.stringify(whole);
    return { id, name, kind, input: whole, text, ...(namespace === undefined ? {} : { namespace }) };
  }

  #text(form: "patch" | "program", tool: FlintTool, input: Input): string {
    return form === "patch" ? patchFor(tool, input) : programFor(tool, input, this.#escalation);
  }

  #fields(tool: FlintTool, theirs: CallersTool, names: Match["names"], input: Input): Input {
    const properties = propertiesOf(theirs.parameters);
    if (tool === "update_plan") return planInput(input, names.plan ?? "plan", properties);
    if (tool === "ask_user") return questionInput(input, names.questions ?? "questions", properties);
    const fields = Object.entries(names).flatMap(([ours, name]) => {
      const value = ours === "path" ? this.#path(name, properties, input.path) : input[ours];
      return value === undefined ? [] : [[name, fitting(ours, value, properties[name])] as const];
    });
    const escalation = tool === "shell" && "sandbox_permissions" in properties ? this.#escalation : {};
    return { ...Object.fromEntries(fields), ...extrasFor(tool, properties), ...escalation };
  }

  /** A whole path where the caller wants one and said where it works. */
  #path(name: string, properties: Schema, path: unknown): string | undefined {
    const given = typeof path === "string" ? path : undefined;
    const wantsWhole = /absolute|^file_?path$/i.test(name + descriptionOf(properties[name]));
    if (!wantsWhole || this.#directory === undefined) return given;
    return posix.resolve(this.#directory, given ?? ".");
  }
}

function matchFor(role: Role, tools: readonly CallersTool[]): Match | undefined {
  for (const wanted of role.names) {
    for (const tool of tools) {
      if (plain(tool.name) !== wanted) continue;
      const names = namesFor(role, tool);
      if (names !== undefined) return { tool, names };
    }
  }
  const patch = role.isPatchable === true ? patchMatch(tools) : undefined;
  return patch ?? looseMatch(role, tools) ?? programMatch(role, tools);
}

/** A tool of another name, if its fields are those of the role and its name at least sounds like it. */
function looseMatch(role: Role, tools: readonly CallersTool[]): Match | undefined {
  for (const tool of tools) {
    if (role.sounds === undefined || !role.sounds.test(tool.name)) continue;
    const names = namesFor(role, tool);
    if (names !== undefined) return { tool, names };
  }
  return undefined;
}

/** The tool that takes patches, either as its whole input or in one field. */
function patchMatch(tools: readonly CallersTool[]): Match | undefined {
  const tool = tools.find(({ name }) => plain(name) === "applypatch");
  if (tool === undefined) return undefined;
  const field = ["input", "patch", "patch_text", "patchText"].find(
    (name) => name in propertiesOf(tool.parameters),
  );
  return { tool, names: { text: field ?? "input" }, form: "patch" };
}

function programMatch(role: Role, tools: readonly CallersTool[]): Match | undefined {
  const tool = tools.find(
    ({ name, kind, description }) => kind === "custom" && runsProgramsFor(role.tool, name, description),
  );
  return tool === undefined ? undefined : { tool, names: { text: "input" }, form: "program" };
}

function namesFor(role: Role, tool: CallersTool): Match["names"] | undefined {
  if (tool.kind === "localShell") return role.tool === "shell" ? { command: "command" } : undefined;
  const properties = propertiesOf(tool.parameters);
  const names = Object.entries(role.fields).map(([ours, theirs]) => {
    const name = theirs.find((each) => each in properties);
    return [ours, name] as const;
  });
  const isComplete = names.every(([ours, name]) => name !== undefined || role.optional?.includes(ours));
  if (!isComplete) return undefined;
  return Object.fromEntries(
    names.flatMap(([ours, name]) => (name === undefined ? [] : [[ours, name] as const])),
  );
}

/** A command goes as words to those who start programs without a shell. */
function fitting(field: string, value: unknown, schema: unknown): unknown {
  const isList = typeOf(schema) === "array";
  return field === "command" && isList ? ["bash", "-lc", value] : value;
}

/** What makes a result readable here: the lines themselves, with their numbers. */
function extrasFor(tool: FlintTool, properties: Schema): Input {
  if (tool !== "search_text" || !("output_mode" in properties)) return {};
  return { output_mode: "content", ...("-n" in properties ? { "-n": true } : {}) };
}

/** Values for what the caller insists on and we have nothing to say about. */
function requiredOf({ parameters, name }: CallersTool, own: Input): Input {
  const properties = propertiesOf(parameters);
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const missing = required.filter((field): field is string => typeof field === "string" && !(field in own));
  return Object.fromEntries(
    missing.map((field) => {
      const schema = properties[field];
      return [field, isSchema(schema) ? valueFitting(schema, `Asked for by the user (${name})`) : ""];
    }),
  );
}

function customText({ input, raw }: ScriptedCall): string {
  return raw ?? (typeof input.input === "string" ? input.input : JSON.stringify(input));
}

/** The caller's words for how a step stands, at the place where the model looks for them. */
function planSchema(parameters: Schema, field: string): Schema {
  return { properties: { plan: propertiesOf(parameters)[field] ?? {} } };
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, "");
}

function propertiesOf(parameters: Schema): Schema {
  return isSchema(parameters.properties) ? parameters.properties : {};
}

function descriptionOf(schema: unknown): string {
  return isSchema(schema) && typeof schema.description === "string" ? ` ${schema.description}` : "";
}

function typeOf(schema: unknown): unknown {
  return isSchema(schema) ? schema.type : undefined;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
