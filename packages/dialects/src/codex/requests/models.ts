import type { ConfigOption, Model } from "@flint/protocol";
import type { CodexModel } from "@flint/protocol/codex";
import { REASONING_EFFORT } from "../threads.ts";
import type { Handler } from "../visit.ts";

/** What is chosen where an agent has no efforts to choose from. */
const NO_EFFORT = "medium";

/** The models of all agents; each is named as people know it, and by its agent. */
export const modelList: Handler<"model/list"> = async (_params, visit, reply) => {
  const [{ data }, { options }] = await Promise.all([
    visit.core("model/list", {}),
    visit.core("config/list", {}),
  ]);
  const chosen = data.find(({ isDefault }) => isDefault) ?? data[0];
  const efforts = options.find(({ id }) => id === REASONING_EFFORT);
  const rows = data.map((model) =>
    modelOf(model, isOfSameAgent(model, chosen) ? efforts : undefined, chosen),
  );
  reply({ data: rows, nextCursor: null });
};

function isOfSameAgent(model: Model, other: Model | undefined): boolean {
  return agentOf(model) === (other === undefined ? undefined : agentOf(other));
}

function agentOf({ id }: Model): string | undefined {
  return id.split("/")[0];
}

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
