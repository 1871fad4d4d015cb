import {
  type ConfigOption,
  type ConfigValues,
  configValueWords,
  FlintError,
  isConfigValue,
  type Model,
} from "@flint/protocol";
import type { ReportedUnit } from "../budget/enforcement.ts";
import type { Driver, UsageReports } from "../ports/index.ts";

/** A model together with the driver that offers it. */
export interface ChosenModel {
  readonly id: string;
  readonly driver: Driver;
}

/** Usage reports of a driver that declares no others. */
const EVERY_CALL: UsageReports = { tokens: "call", steps: "call", costUsd: "free" };

/** The agents of this server, and their models and selectors. */
export class Catalogue {
  readonly #drivers: readonly Driver[];
  /** Units that agents have not reported of a model although they are known to. */
  readonly #unreported = new Map<string, Set<ReportedUnit>>();

  constructor(drivers: readonly Driver[]) {
    if (drivers.length === 0) throw new Error("A server needs at least one driver.");
    this.#drivers = drivers;
  }

  /**
   * The models of all drivers; the default of the preferred driver is the default. A driver that fails is left out; only
   * if all fail, the first failure is thrown.
   */
  async models(): Promise<readonly Model[]> {
    const preferred = await this.#preferred();
    const lists = await Promise.allSettled(this.#drivers.map((driver) => driver.models()));
    const failed = lists.find((list) => list.status === "rejected");
    if (failed !== undefined && lists.every((list) => list.status === "rejected")) throw failed.reason;
    return lists.flatMap((list, index) => {
      const isPreferred = this.#drivers[index] === preferred;
      const models = list.status === "rejected" ? [] : list.value;
      return models.map((model) => ({ ...model, isDefault: model.isDefault && isPreferred }));
    });
  }

  /** All drivers. */
  get drivers(): readonly Driver[] {
    return this.#drivers;
  }

  async defaultModel(): Promise<string> {
    // A driver that fails is left out, as in the list.
    const known = await (await this.#preferred())?.defaultModel?.().catch(() => undefined);
    if (known !== undefined) return known;
    const models = await this.models();
    const chosen = models.find((model) => model.isDefault) ?? models[0];
    if (chosen === undefined)
      throw new FlintError("agentFailed", "No agent offers a model. Start Flint with another agent.");
    return chosen.id;
  }

  /** Finds a model by its id; by its name alone if only one driver has it; by an agent's id for its default model. */
  async choose(id: string): Promise<ChosenModel> {
    const agent = this.driver(id);
    if (agent !== undefined) return { id: await defaultOf(agent), driver: agent };
    const named = this.#drivers.find((driver) => id.startsWith(`${driver.id}/`));
    const { qualified, problem } = qualify(id, named === undefined ? this.#drivers : [named]);
    if (qualified !== undefined) return { id: qualified, driver: this.driverOf(qualified) };
    const models = named === undefined ? await this.models() : await named.models();
    const alike = models.filter((model) => model.id.endsWith(`/${id}`));
    const found = models.find((model) => model.id === id) ?? (alike.length === 1 ? alike[0] : undefined);
    if (found !== undefined) return { id: found.id, driver: this.driverOf(found.id) };
    if (problem !== undefined && alike.length === 0) throw problem;
    throw unknownModel(id, alike, models);
  }

  /** The agent of new threads that do not name one. */
  async #preferred(): Promise<Driver | undefined> {
    for (const driver of this.#drivers) {
      // One that fails is not preferred.
      if ((await driver.isPreferred?.().catch(() => false)) === true) return driver;
    }
    return this.#drivers[0];
  }

  /** The driver with this id, if there is one. */
  driver(id: string): Driver | undefined {
    return this.#drivers.find((known) => known.id === id);
  }

  /** Throws `invalidParams` for the name of an agent that this server does not have. */
  requireAgent(id: string): void {
    if (this.driver(id) !== undefined) return;
    const known = this.#drivers.map((driver) => driver.id);
    const message = `No agent ${JSON.stringify(id)}. Known: ${known.join(", ")}.`;
    throw new FlintError("invalidParams", message, { field: "agent", known });
  }

  /** The driver in a model id. Throws `agentFailed` if there is no such driver. */
  driverOf(modelId: string): Driver {
    const name = modelId.split("/")[0];
    const driver = this.#drivers.find((known) => known.id === name);
    if (driver !== undefined) return driver;
    throw new FlintError(
      "agentFailed",
      `This server has no agent ${JSON.stringify(name)} for the model ${modelId}.`,
      {
        known: this.#drivers.map((known) => known.id),
      },
    );
  }

  /**
   * Returns what the agent of a model reports of its usage, except for units that it has failed to report in
   * a turn.
   */
  async usageReports(modelId: string): Promise<UsageReports> {
    const reports = (await this.driverOf(modelId).usageReports?.(modelId)) ?? EVERY_CALL;
    const missing = [...(this.#unreported.get(modelId) ?? [])].map((unit) => [unit, "never"] as const);
    return { ...reports, ...Object.fromEntries(missing) };
  }

  /** Notes whether the agent of a model reported what it used. */
  noteReported(modelId: string, unit: ReportedUnit, isReported: boolean): void {
    const missing = this.#unreported.get(modelId) ?? new Set();
    if (isReported) missing.delete(unit);
    else missing.add(unit);
    this.#unreported.set(modelId, missing);
  }

  /** Returns the provider of a model; undefined if that is its agent. */
  providerOf(modelId: string): string | undefined {
    return this.driverOf(modelId).provider?.(modelId);
  }

  /** The agent of new threads and, if it is known without asking the agent, their model. */
  async defaultAgent(
    model: string | undefined,
  ): Promise<{ readonly driver: Driver; readonly model: string }> {
    const named = this.#drivers.find(({ id }) => model === id || model?.startsWith(`${id}/`));
    const driver = named ?? (await this.#preferred());
    if (driver === undefined) throw new Error("A server needs at least one driver.");
    return { driver, model: model ?? driver.id };
  }

  options(modelId: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return this.driverOf(modelId).options(modelId, values);
  }

  /** Applies changes; each value must be offered by its selector, and one may make another selector appear. */
  async withValues(modelId: string, values: ConfigValues, changes: ConfigValues): Promise<ConfigValues> {
    let next = values;
    let waiting = Object.entries(changes);
    while (waiting.length > 0) {
      const options = await this.options(modelId, next);
      const change = waiting.find(([id]) => options.some((option) => option.id === id)) ?? waiting[0];
      if (change === undefined) break;
      checkValue(options, ...change);
      next = { ...next, [change[0]]: change[1] };
      waiting = waiting.filter((other) => other !== change);
    }
    return next;
  }

  /** Keeps the values that a model's selectors offer, and drops the others. */
  async keepOffered(modelId: string, values: ConfigValues): Promise<ConfigValues> {
    let kept: ConfigValues = {};
    let waiting = Object.entries(values);
    for (let before = -1; waiting.length !== before; ) {
      before = waiting.length;
      const options = waiting.length === 0 ? [] : await this.options(modelId, kept);
      const offered = waiting.filter(([id, value]) =>
        options.some((option) => option.id === id && isConfigValue(option, value)),
      );
      kept = { ...kept, ...Object.fromEntries(offered) };
      waiting = waiting.filter((entry) => !offered.includes(entry));
    }
    return kept;
  }
}

/** The number of models that an error message lists at most. */
const MODELS_SHOWN = 20;

/** The full id from the first driver that knows the name, or else the error of the first that cannot offer it. */
function qualify(
  id: string,
  drivers: readonly Driver[],
): { readonly qualified?: string | undefined; readonly problem?: unknown } {
  let problem: unknown;
  for (const driver of drivers) {
    // Expected: a FlintError that says how to set the model up. Another agent may have it all the same.
    try {
      const qualified = driver.qualify?.(id);
      if (qualified !== undefined) return { qualified };
    } catch (thrown) {
      problem ??= thrown;
    }
  }
  return { problem };
}

function unknownModel(id: string, alike: readonly Model[], models: readonly Model[]): FlintError {
  const all = (alike.length > 1 ? alike : models).map((model) => model.id);
  const known = all.slice(0, MODELS_SHOWN);
  const rest = all.length > known.length ? `, and ${all.length - known.length} more` : "";
  const problem =
    alike.length > 1
      ? `Several agents offer the model ${JSON.stringify(id)}`
      : `Unknown ${id.includes("/") ? "model" : "model or agent"} ${JSON.stringify(id)}`;
  const message = `${problem}. Choose one of: ${known.join(", ")}${rest}.`;
  return new FlintError("invalidParams", message, { field: "model", known });
}

function checkValue(options: readonly ConfigOption[], id: string, value: string): void {
  const option = options.find((known) => known.id === id);
  if (option === undefined) {
    const known = options.map((other) => other.id);
    const list = known.length === 0 ? "this model has none" : known.join(", ");
    const message = `Unknown config option ${JSON.stringify(id)}. Known: ${list}.`;
    throw new FlintError("invalidParams", message, { field: "config", known });
  }
  if (isConfigValue(option, value)) return;
  const message = `${JSON.stringify(value)} is not a value of ${id}. Known: ${configValueWords(option)}.`;
  const known = option.type === "boolean" ? ["true", "false"] : option.options.map((offered) => offered.id);
  throw new FlintError("invalidParams", message, { field: id, known });
}

async function defaultOf(driver: Driver): Promise<string> {
  const known = await driver.defaultModel?.();
  if (known !== undefined) return known;
  const models = await driver.models();
  const found = models.find((model) => model.isDefault) ?? models[0];
  if (found !== undefined) return found.id;
  throw new FlintError("agentFailed", `The agent ${driver.id} offers no model. Run flint doctor.`);
}
