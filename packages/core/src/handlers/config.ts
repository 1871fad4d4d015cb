import { agentOfModel, type ConfigOption, type ConfigValues, FlintError } from "@flint/protocol";
import { ALL_CAPABILITIES, type Driver } from "../ports/index.ts";
import type { Services } from "../services.ts";
import { settingsEvents } from "../turn/decisions.ts";
import type { GlobalHandlers } from "./handler.ts";

/** Models, selectors, features and skills. */
export const configHandlers: Pick<
  GlobalHandlers,
  | "initialize"
  | "model/list"
  | "config/list"
  | "config/set"
  | "config/read"
  | "mcpServerStatus/list"
  | "agent/features/list"
  | "agent/skills/list"
  | "agent/hooks/list"
  | "agent/plugins/list"
> = {
  async initialize({ clientInfo }, { services, client }) {
    client.introduce(clientInfo.title ?? clientInfo.name);
    const { version, drivers } = services.options;
    const { driver, model } = await services.settings.defaultAgent();
    const agents = drivers.map((each) => agentOf(each, each === driver ? model : each.id));
    const { provider, capabilities } = agentOf(driver, model);
    return { result: { agentInfo: { name: "flint", version, provider }, capabilities, agents } };
  },

  async "model/list"({ limit }, { services }) {
    const models = await services.catalogue.models();
    return { result: { data: models.slice(0, limit ?? models.length) } };
  },

  async "config/list"({ threadId, model }, { services }) {
    const settings = await settingsOf(services, threadId);
    const options =
      model === undefined
        ? await services.catalogue.options(settings.model, settings.config)
        : await optionsWith(services, model, settings.config);
    return { result: { options: [...options] } };
  },

  async "config/set"({ threadId, id, value }, { services }, respond) {
    if (threadId === undefined)
      return { result: { options: [...(await services.settings.setDefault(id, value))] } };
    // In the queue, because settings derived from older ones would undo changes made in between.
    await services.registry.runInQueue(threadId, async ({ thread: { log } }) => {
      const settings = await services.settings.override(log.state.settings, { config: { [id]: value } });
      const options = [...(await services.catalogue.options(settings.model, settings.config))];
      await log.commit(settingsEvents(log.state, settings), () => respond({ options }));
      log.sendLive({ type: "config/updated", data: { threadId, options } });
    });
    return "answered";
  },

  async "config/read"({ threadId }, { services, client }) {
    const settings = await settingsOf(services, threadId);
    const { model, approvalPolicy, sandboxPolicy, config } = settings;
    const cwd = threadId === undefined ? (client.cwd ?? settings.cwd) : settings.cwd;
    const options = [...(await services.catalogue.options(model, config))];
    const sandbox = await services.options.sandbox.state();
    const { durability } = services.options;
    const modelProvider = settings.modelProvider ?? agentOfModel(model);
    return {
      result: { model, modelProvider, cwd, approvalPolicy, sandboxPolicy, options, sandbox, durability },
    };
  },

  async "mcpServerStatus/list"({ threadId }, { services, client }) {
    const driver = await driverOf(services, threadId);
    const reported = (await driver.mcpServers?.()) ?? [];
    const { registry } = services;
    const configured = await registry.mcpServers(threadId, await folderOf(services, threadId, client.cwd));
    const hasAgent = threadId !== undefined && registry.loaded(threadId)?.hasAgent === true;
    const status = hasAgent ? ("unreported" as const) : ("notStarted" as const);
    const others = configured.filter(({ name }) => reported.every((known) => known.name !== name));
    return { result: { data: [...reported, ...others.map(({ name }) => ({ name, status }))] } };
  },

  async "agent/features/list"({ threadId }, { services }) {
    const driver = await driverOf(services, threadId);
    return { result: { ...namesOf(driver), data: [...((await driver.features?.()) ?? [])] } };
  },

  async "agent/skills/list"({ threadId, cwds }, { services, client }) {
    const driver = await driverOf(services, threadId);
    const folders = cwds ?? [await folderOf(services, threadId, client.cwd)];
    const data = folders.map(async (cwd) => {
      const steering = await steeringIn(cwd, driver, services);
      return (await driver.skills?.(cwd, steering)) ?? { cwd, skills: [], errors: [] };
    });
    return { result: { ...namesOf(driver), data: await Promise.all(data) } };
  },

  async "agent/hooks/list"({ threadId, cwds }, { services, client }) {
    const driver = await driverOf(services, threadId);
    const folders = cwds ?? [await folderOf(services, threadId, client.cwd)];
    const data = folders.map(async (cwd) => {
      const steering = await steeringIn(cwd, driver, services);
      return (await driver.hooks?.(cwd, steering)) ?? { cwd, hooks: [], warnings: [], errors: [] };
    });
    return { result: { ...namesOf(driver), data: await Promise.all(data) } };
  },

  async "agent/plugins/list"({ threadId, cwds = [], installedOnly = false }, { services }) {
    const driver = await driverOf(services, threadId);
    const folders = await Promise.all(
      cwds.map(async (cwd) => ({ cwd, steering: await steeringIn(cwd, driver, services) })),
    );
    const plugins = await driver.plugins?.(folders, installedOnly);
    return { result: { ...namesOf(driver), ...(plugins ?? { data: [], errors: [], featured: [] }) } };
  },
};

/** The folder of a thread, or that of new threads of a client. */
async function folderOf(services: Services, threadId: string | undefined, own: string | undefined) {
  const { cwd } = await settingsOf(services, threadId);
  return threadId === undefined ? (own ?? cwd) : cwd;
}

/** The files of a folder that could steer an agent. */
function steeringIn(cwd: string, { projectFiles = [] }: Driver, { options }: Services) {
  return options.workspaces.steering(cwd, projectFiles);
}

/** An agent as clients see it. */
function agentOf(driver: Driver, model: string) {
  const { id, displayName = id } = driver;
  const provider = driver.provider?.(model) ?? id;
  const capabilities = { ...(driver.capabilities?.(model) ?? ALL_CAPABILITIES) };
  return { id, displayName, provider, capabilities };
}

/** The agent that something is of, with its kind if that is not its name. */
export function namesOf({ id, kind }: Driver) {
  return { agent: id, ...(kind === undefined ? {} : { kind }) };
}

/** The settings of a thread, or those of new threads. */
export async function settingsOf(services: Services, threadId: string | undefined) {
  if (threadId === undefined) return services.settings.defaults();
  const loaded = services.registry.loaded(threadId);
  return loaded?.log.state.settings ?? (await services.options.store.peek(threadId)).state.settings;
}

/** The selectors of another model, with the values that it offers too. */
async function optionsWith(
  { catalogue }: Services,
  model: string,
  values: ConfigValues,
): Promise<readonly ConfigOption[]> {
  const { id } = await catalogue.choose(model);
  return catalogue.options(id, await catalogue.keepOffered(id, values));
}

/** The driver of a thread, or that of new threads. */
export async function driverOf(services: Services, threadId: string | undefined) {
  const { model } = await settingsOf(services, threadId);
  if (model === "")
    throw new FlintError("threadNotFound", `Thread ${threadId} has no readable settings.`, { threadId });
  return services.catalogue.driverOf(model);
}
