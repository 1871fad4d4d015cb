import * as z from "zod/mini";
import { isRecord, looseObject } from "../wire/loose-object.ts";

/** A model that a thread can use; its id is `agent/model`. */
export const Model = looseObject(() => ({
  id: z.string(),
  displayName: z.string(),
  description: z.optional(z.string()),
  isDefault: z.boolean(),
  meta: z.optional(z.record(z.string(), z.unknown())),
}));
export type Model = z.output<typeof Model>;

/** The description of a model for a picker, with what is known of its context and price. */
export function modelDescription({ description, meta }: Model): string | undefined {
  const parts = [description, ...modelFacts(meta ?? {})].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? undefined : parts.join(" ");
}

function modelFacts({ contextWindow, price }: Readonly<Record<string, unknown>>): readonly string[] {
  return [
    ...(typeof contextWindow === "number" ? [`${roundedCount(contextWindow)} tokens of context.`] : []),
    ...(isRecord(price) && typeof price.input === "number" && typeof price.output === "number"
      ? [`$${price.input} in, $${price.output} out per million tokens.`]
      : []),
  ];
}

function roundedCount(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}K` : `${Math.round(count / 100_000) / 10}M`;
}

/** One value of a selector. */
export const ConfigSelectOption = looseObject(() => ({
  id: z.string(),
  name: z.string(),
  description: z.optional(z.string()),
}));
export type ConfigSelectOption = z.output<typeof ConfigSelectOption>;

/**
 * A setting that an agent advertises. Clients show all of them in the same way and need not know their meaning.
 * A `boolean` has the values "true" and "false", a `number` those from `min` to `max`; `step` is what a key changes it by.
 */
export const ConfigOption = looseObject(() => ({
  type: z.enum(["select", "boolean", "number"]),
  id: z.string(),
  name: z.string(),
  description: z.optional(z.string()),
  group: z.optional(z.string()),
  category: z.optional(z.string()),
  options: z.array(ConfigSelectOption),
  value: z.string(),
  modelIds: z.optional(z.array(z.string())),
  min: z.optional(z.number()),
  max: z.optional(z.number()),
  step: z.optional(z.number()),
}));
export type ConfigOption = z.output<typeof ConfigOption>;

/** Reports whether a selector can have a value. */
export function isConfigValue({ type, options, min, max }: ConfigOption, value: string): boolean {
  if (type === "boolean") return value === "true" || value === "false";
  if (type === "select") return options.some(({ id }) => id === value);
  const number = Number(value);
  const isInside = number >= (min ?? number) && number <= (max ?? number);
  return value.trim() !== "" && Number.isFinite(number) && isInside;
}

/** The values of a selector as text; those of a number as its bounds. */
export function configValueWords({ type, options, min, max }: ConfigOption): string {
  if (type === "boolean") return "true, false";
  if (type === "select") return options.map(({ id }) => id).join(", ");
  const bounds = [min === undefined ? [] : `from ${min}`, max === undefined ? [] : `up to ${max}`].flat();
  return ["numbers", ...bounds].join(" ");
}

/** The id or category by which agents name the option for their reasoning effort. */
const EFFORT_ID = "reasoning_effort";
const EFFORT_CATEGORY = "thought_level";

/** The option and value for an effort; undefined if the agent does not offer it. */
export function effortValue(
  options: readonly ConfigOption[],
  effort: string,
): Readonly<Record<string, string>> | undefined {
  const selector = options.find(({ id, category }) => id === EFFORT_ID || category === EFFORT_CATEGORY);
  const offered = selector?.options.some(({ id }) => id === effort);
  return selector === undefined || offered !== true ? undefined : { [selector.id]: effort };
}

/**
 * State of sandboxing on this machine: whether commands can be sandboxed, by which mechanism, and if not, how
 * to change that.
 */
export const SandboxState = looseObject(() => ({
  available: z.boolean(),
  mechanism: z.string(),
  detail: z.optional(z.string()),
  /** Limitations of the mechanism on this machine, as sentences that name the way out. */
  limitations: z.optional(z.array(z.string())),
}));
export type SandboxState = z.output<typeof SandboxState>;

/**
 * A file or folder of a workspace that could configure Flint or steer an agent, or the program of an MCP server. It has no
 * effect unless `trusted`, which applies to this exact content only.
 */
export const WorkspaceFile = looseObject(() => ({
  path: z.string(),
  sha256: z.string(),
  trusted: z.boolean(),
  content: z.string(),
  /** The agents and programs that it steers; absent for Flint itself. */
  steers: z.optional(z.array(z.string())),
  /** The reason it would have no effect even if it were trusted. */
  problem: z.optional(z.string()),
}));
export type WorkspaceFile = z.output<typeof WorkspaceFile>;

/**
 * Reports whether a file cannot be trusted. Flint's own files can be trusted even if they are invalid; they
 * have no effect then.
 */
export function cannotBeTrusted({ steers, problem }: WorkspaceFile): boolean {
  return steers !== undefined && problem !== undefined;
}

/** A feature of an agent that the user can turn on or off in the agent's own configuration. */
export const AgentFeature = looseObject(() => ({
  name: z.string(),
  /** Its maturity in the agent's own words, such as `beta`. */
  stage: z.string(),
  displayName: z.optional(z.string()),
  description: z.optional(z.string()),
  announcement: z.optional(z.string()),
  enabled: z.boolean(),
  defaultEnabled: z.boolean(),
}));
export type AgentFeature = z.output<typeof AgentFeature>;

/** A skill that an agent has in a folder. */
export const AgentSkill = looseObject(() => ({
  name: z.string(),
  displayName: z.optional(z.string()),
  description: z.string(),
  shortDescription: z.optional(z.string()),
  /** Its `SKILL.md`. */
  path: z.string(),
  /** Its origin in the agent's own words, such as `user` or `repo`. */
  scope: z.string(),
  enabled: z.boolean(),
}));
/** A skill that an agent has in a folder. */
export type AgentSkill = z.output<typeof AgentSkill>;

/** The skills that an agent has in a folder, and the files that it cannot read as one. */
export const FolderSkills = looseObject(() => ({
  cwd: z.string(),
  skills: z.array(AgentSkill),
  errors: z.array(looseObject(() => ({ path: z.string(), message: z.string() }))),
}));
/** The skills that an agent has in a folder, and the files that it cannot read as one. */
export type FolderSkills = z.output<typeof FolderSkills>;

/** A hook that an agent runs in a folder. */
export const AgentHook = looseObject(() => ({
  name: z.string(),
  /** The event at which it runs, in the agent's own words, such as `preToolUse`. */
  event: z.string(),
  /** Its origin in the agent's own words, such as `user` or `project`. */
  source: z.string(),
  enabled: z.boolean(),
  command: z.optional(z.string()),
  /** All that the agent reports of it. */
  meta: z.record(z.string(), z.unknown()),
}));
export type AgentHook = z.output<typeof AgentHook>;

/** A file that an agent cannot read, and why. */
export const ListError = looseObject(() => ({ path: z.string(), message: z.string() }));

/** The hooks that an agent runs in a folder, and what is wrong with the files that name them. */
export const FolderHooks = looseObject(() => ({
  cwd: z.string(),
  hooks: z.array(AgentHook),
  warnings: z.array(z.string()),
  errors: z.array(ListError),
}));
export type FolderHooks = z.output<typeof FolderHooks>;

/** A plugin that an agent can install or has installed. */
export const AgentPlugin = looseObject(() => ({
  id: z.string(),
  name: z.string(),
  installed: z.boolean(),
  enabled: z.boolean(),
  /** All that the agent reports of it. */
  meta: z.record(z.string(), z.unknown()),
}));

/** A source of an agent's plugins. */
export const PluginMarketplace = looseObject(() => ({
  name: z.string(),
  /** Its file; absent if it is not on this machine. */
  path: z.optional(z.string()),
  plugins: z.array(AgentPlugin),
  /** Further fields that the agent reports of it. */
  meta: z.record(z.string(), z.unknown()),
}));

/** The account that an agent works with. */
export const AgentAccount = looseObject(() => ({
  type: z.string(),
  label: z.optional(z.string()),
  plan: z.optional(z.string()),
}));
/** The account that an agent works with. */
export type AgentAccount = z.output<typeof AgentAccount>;
