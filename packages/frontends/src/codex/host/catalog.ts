import {
  type AgentFeature,
  type AgentSkill,
  type ConfigOption,
  type FolderHooks,
  type Model,
  modelDescription,
  type Result,
} from "@flint/protocol";
import type { CodexModel } from "@flint/protocol/codex";
import * as z from "zod/mini";
import type { CoreCalls } from "../../shared/core-calls.ts";
import { isCodex } from "../events/accounts.ts";
import { REASONING_EFFORT } from "../events/threads.ts";
import type { Handlers } from "../requests/handler.ts";
import { codexError } from "../wire/errors.ts";
import { PERMISSION_PROFILES } from "../wire/policies.ts";

type Lists =
  | "skills/list"
  | "hooks/list"
  | "plugin/list"
  | "plugin/installed"
  | "collaborationMode/list"
  | "permissionProfile/list"
  | "experimentalFeature/list"
  | "mcpServerStatus/list";

/** Lists that Codex has. Those of which Flint has no entries are empty. */
export const lists: Handlers<Lists> = {
  async "skills/list"({ cwds }, { core, reply }) {
    const { data, ...names } = await core.call("agent/skills/list", cwds == null ? {} : { cwds });
    // Clients send a skill back by its path, which means something to Codex only.
    const folders = isCodex(names) ? data : data.map(({ cwd }) => ({ cwd, skills: [], errors: [] }));
    reply({ data: folders.map((folder) => ({ ...folder, skills: folder.skills.map(skillOf) })) });
  },
  async "hooks/list"({ cwds, threadId }, { core, reply }) {
    const { data, ...names } = await core.call("agent/hooks/list", {
      ...(threadId == null ? {} : { threadId }),
      ...(cwds == null || cwds.length === 0 ? {} : { cwds }),
    });
    // Clients change a hook by Codex's own key for it; another agent's would mean something else.
    const folders = isCodex(names) ? data : data.map(({ cwd }) => ({ cwd, ...NO_HOOKS }));
    reply({ data: folders.map((folder) => ({ ...folder, hooks: folder.hooks.map(hookOf) })) });
  },
  async "plugin/list"({ cwds }, { core, reply }) {
    const { featured, ...listed } = await core.call("agent/plugins/list", cwds == null ? {} : { cwds });
    reply({ ...marketplacesOf(listed), featuredPluginIds: isCodex(listed) ? featured : [] });
  },
  async "plugin/installed"({ cwds }, { core, reply }) {
    const folders = cwds == null ? {} : { cwds };
    reply(marketplacesOf(await core.call("agent/plugins/list", { ...folders, installedOnly: true })));
  },
  "collaborationMode/list"(_params, { reply }) {
    reply({ data: COLLABORATION_MODES });
  },
  "permissionProfile/list"({ cursor }, { reply }) {
    expectNoCursor(cursor);
    reply({ data: PERMISSION_PROFILES, nextCursor: null });
  },
  async "experimentalFeature/list"({ cursor }, { core, reply }) {
    expectNoCursor(cursor);
    const { data, ...names } = await core.call("agent/features/list", {});
    // Clients read the stages of Codex; another agent's would mean something else.
    reply({ data: isCodex(names) ? data.map(featureOf) : [], nextCursor: null });
  },
  async "mcpServerStatus/list"({ threadId, cursor }, { core, reply }) {
    expectNoCursor(cursor);
    const { data } = await core.call("mcpServerStatus/list", threadId == null ? {} : { threadId });
    const servers = data.map(({ name, status, error = null }) => ({
      ...{ name, ...NO_DETAILS, toolsError: error },
      runtimeStatus: RUNTIME_STATUS[status],
    }));
    reply({ data: servers, nextCursor: null });
  },
};

function hookOf({ meta, name: key, event: eventName, source, enabled }: FolderHooks["hooks"][number]) {
  return { ...meta, key, eventName, source, enabled };
}

const NO_HOOKS: Omit<FolderHooks, "cwd"> = { hooks: [], warnings: [], errors: [] };

/** The marketplaces of Codex as it reports them. The plugins of another agent are none that a client could install. */
function marketplacesOf({ data, errors, ...names }: Omit<Result<"agent/plugins/list">, "featured">) {
  if (!isCodex(names)) return { marketplaces: [], marketplaceLoadErrors: [] };
  return {
    marketplaces: data.map(({ name, path = null, plugins, meta }) => ({
      ...{ ...meta, name, path },
      plugins: plugins.map(({ meta, id, name, installed, enabled }) => ({
        ...meta,
        id,
        name,
        installed,
        enabled,
      })),
    })),
    marketplaceLoadErrors: errors.map(({ path: marketplacePath, message }) => ({ marketplacePath, message })),
  };
}

function featureOf(feature: AgentFeature) {
  const { displayName, description, announcement } = feature;
  const texts = { displayName: displayName ?? null, description: description ?? null };
  return { ...feature, ...texts, announcement: announcement ?? null };
}

function skillOf(skill: AgentSkill) {
  const { name, description, path, scope, enabled, displayName, shortDescription } = skill;
  const texts = { displayName: displayName ?? null, shortDescription: shortDescription ?? null };
  return { ...{ name, description, path, scope, enabled }, interface: texts, pluginId: null };
}

/** The first answer has the whole list, so no cursor can have come from here. */
function expectNoCursor(cursor: string | null | undefined): void {
  if (cursor != null) throw codexError(`invalid cursor: ${cursor.slice(0, 200)}`);
}

const COLLABORATION_MODES = [
  { name: "Plan", mode: "plan", model: null, reasoning_effort: null },
  { name: "Default", mode: "default", model: null, reasoning_effort: null },
];

const RUNTIME_STATUS = {
  notStarted: "notStarted",
  starting: "starting",
  ready: "connected",
  failed: "failed",
  unreported: null,
} as const;

const NO_DETAILS = { tools: {}, resources: [], resourceTemplates: [], authStatus: "unsupported" };

/** The effort of a model whose agent has none to choose from. */
const DEFAULT_EFFORT = "medium";

/** The models of all agents, each named with its agent. */
export const models: Handlers<"model/list"> = {
  async "model/list"(_params, { core, reply }) {
    const { data } = await core.call("model/list", {});
    const chosen = data.find(({ isDefault }) => isDefault) ?? data[0];
    const rows = data.map(async (model) => modelOf(model, await effortsOf(model, core), chosen));
    reply({ data: await Promise.all(rows), nextCursor: null });
  },
};

/** The efforts of a model, as far as its agent has reported them; none if it cannot. */
async function effortsOf({ id: model }: Model, core: CoreCalls): Promise<ConfigOption | undefined> {
  const { options } = await core.call("config/list", { model }).catch(() => NO_OPTIONS);
  return options.find(({ id }) => id === REASONING_EFFORT);
}

const NO_OPTIONS: Result<"config/list"> = { options: [] };

function modelOf(model: Model, efforts: ConfigOption | undefined, chosen: Model | undefined): CodexModel {
  return {
    id: model.id,
    model: model.id,
    // Anything but null makes clients prompt the user at their start.
    upgrade: null,
    upgradeInfo: null,
    availabilityNux: null,
    displayName: displayName(model),
    description: modelDescription(model) ?? "",
    modelSpecialty: null,
    hidden: false,
    supportedReasoningEfforts: (efforts?.options ?? []).map(({ id, name, description }) => ({
      reasoningEffort: id,
      description: description ?? name,
    })),
    defaultReasoningEffort: efforts?.value ?? DEFAULT_EFFORT,
    inputModalities: listIn(model, "inputModalities", z.string()) ?? ["text", "image"],
    supportsPersonality: model.meta?.supportsPersonality === true,
    multiAgentVersion: null,
    additionalSpeedTiers: listIn(model, "additionalSpeedTiers", z.string()) ?? [],
    serviceTiers: listIn(model, "serviceTiers", z.unknown()) ?? [],
    defaultServiceTier: null,
    availableAccessPrograms: null,
    isDefault: model.id === chosen?.id,
  };
}

/** A list among the details of a model, if its agent reports one. */
function listIn<Entry>({ meta }: Model, name: string, entry: z.ZodMiniType<Entry>): Entry[] | undefined {
  const read = z.array(entry).safeParse(meta?.[name]);
  return read.success ? read.data : undefined;
}

function displayName({ id, displayName }: Model): string {
  const agent = id.split("/")[0] ?? "";
  const named = displayName.toLowerCase().includes(agent.toLowerCase());
  return named ? displayName : `${displayName} (${agent})`;
}
