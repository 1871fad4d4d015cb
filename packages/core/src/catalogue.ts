import { type ConfigOption, type ConfigValues, FlintError, type Model } from "@flint/protocol";
import type { Driver } from "./ports/index.ts";

/** A model together with the driver that offers it. */
export interface ChosenModel {
  readonly id: string;
  readonly driver: Driver;
}

/** All agents of this server: which models and selectors there are, and who is responsible for them. */
export class Catalogue {
  readonly #drivers: readonly Driver[];

  constructor(drivers: readonly Driver[]) {
    if (drivers.length === 0) throw new Error("A server needs at least one driver.");
    this.#drivers = drivers;
  }

  /** The models of all drivers; the first driver's default is the default. */
  async models(): Promise<readonly Model[]> {
    const lists = await Promise.all(this.#drivers.map((driver) => driver.models()));
    return lists.flatMap((models, place) =>
      models.map((model) => ({ ...model, isDefault: model.isDefault && place === 0 })),
    );
  }

  async defaultModel(): Promise<string> {
    const models = await this.models();
    const chosen = models.find((model) => model.isDefault) ?? models[0];
    if (chosen === undefined) throw new FlintError("agentFailed", "No agent offers a model. Run with another agent.");
    return chosen.id;
  }

  /** The model of this id; `model` alone is enough where only one driver has it. */
  async choose(id: string): Promise<ChosenModel> {
    const models = await this.models();
    const found = models.find((model) => model.id === id) ?? models.find((model) => model.id.endsWith(`/${id}`));
    if (found !== undefined) return { id: found.id, driver: this.driverOf(found.id) };
    const known = models.map((model) => model.id);
    throw new FlintError("invalidParams", `Unknown model ${JSON.stringify(id)}. Known: ${known.join(", ")}.`, {
      field: "model",
      known,
    });
  }

  /** The driver that a model id names. */
  driverOf(modelId: string): Driver {
    const name = modelId.split("/")[0];
    const driver = this.#drivers.find((known) => known.id === name);
    if (driver !== undefined) return driver;
    throw new FlintError("agentFailed", `This server has no agent ${JSON.stringify(name)} for the model ${modelId}.`, {
      known: this.#drivers.map((known) => known.id),
    });
  }

  options(modelId: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return this.driverOf(modelId).options(modelId, values);
  }

  /** The values with changes applied one by one; each must be a value that its selector offers at that point. */
  async withValues(modelId: string, values: ConfigValues, changes: ConfigValues): Promise<ConfigValues> {
    let next = values;
    for (const [id, value] of Object.entries(changes)) {
      const options = await this.options(modelId, next);
      checkValue(options, id, value);
      next = { ...next, [id]: value };
    }
    return next;
  }
}

function checkValue(options: readonly ConfigOption[], id: string, value: string): void {
  const option = options.find((known) => known.id === id);
  if (option === undefined) {
    const known = options.map((other) => other.id);
    const list = known.length === 0 ? "this model has none" : known.join(", ");
    throw new FlintError("invalidParams", `Unknown config option ${JSON.stringify(id)}. Known: ${list}.`, { known });
  }
  const values = option.type === "boolean" ? ["true", "false"] : option.options.map((offered) => offered.id);
  if (values.includes(value)) return;
  const message = `${JSON.stringify(value)} is not a value of ${id}. Known: ${values.join(", ")}.`;
  throw new FlintError("invalidParams", message, { field: id, known: values });
}
