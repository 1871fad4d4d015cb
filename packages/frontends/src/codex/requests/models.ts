import type { ConfigOption, Model, Result } from "@flint/protocol";
import type { CodexModel } from "@flint/protocol/codex";
import { REASONING_EFFORT } from "../threads.ts";
import type { Handler, Visit } from "../visit.ts";

/** What is chosen where an agent has no efforts to choose from. */
const NO_EFFORT = "medium";

/** The models of all agents; each is named as people know it, and by its agent. */
export const modelList: Handler<"model/list"> = async (_params, visit, reply) => {
  const { data } = await visit.client.core.call("model/list", {});
  const chosen = data.find(({ isDefault }) => isDefault) ?? data[0];
  const rows = data.map(async (model) => modelOf(model, await effortsOf(model, visit), chosen));
  reply({ data: await Promise.all(rows), nextCursor: null });
};

/** The efforts of a model, as far as its agent knows them by now; one that cannot say has none. */
async function effortsOf({ id: model }: Model, visit: Visit): Promise<ConfigOption | undefined> {
  const { options } = await visit.client.core.call("config/list", { model }).catch(() => NO_OPTIONS);
  return options.find(({ id }) => id === REASONING_EFFORT);
}

const NO_OPTIONS: Result<"config/list"> = { options: [] };

function modelOf(model: Model, efforts: ConfigOption | undefined, chosen: Model | undefined): CodexModel {
  return {
    id: model.id,
    model: model.id,
    // A model that is not null here makes clients ask the user at their start.
    upgrade: null,
    upgradeInfo: null,
    availabilityNux: null,
    displayName: displayName(model),
    description: model.description ?? "",
    modelSpecialty: null,
    hidden: false,
    supportedReasoningEfforts: (efforts?.options ?? []).map(({ id, name, description }) => ({
      reasoningEffort: id,
      description: description ?? name,
    })),
    defaultReasoningEffort: efforts?.value ?? NO_EFFORT,
    inputModalities: ["text", "image"],
    supportsPersonality: false,
    multiAgentVersion: null,
    additionalSpeedTiers: [],
    serviceTiers: [],
    defaultServiceTier: null,
    availableAccessPrograms: null,
    isDefault: model.id === chosen?.id,
  };
}

function displayName({ id, displayName }: Model): string {
  const agent = id.split("/")[0] ?? "";
  const named = displayName.toLowerCase().includes(agent.toLowerCase());
  return named ? displayName : `${displayName} (${agent})`;
}
