import { FlintError, type ThreadSettings } from "@flint/protocol";
import { DEFAULT_MODEL, type Selector } from "./models.ts";
import type { AcpAgent } from "./process/agent.ts";
import type { AcpProfile } from "./profiles/profile.ts";

/** How long an agent may take to change one of its settings. */
const CHOOSE_MS = 20_000;
const MODELS_SHOWN = 20;

/** Applies the thread's model, mode and other values to an agent, as far as they differ from its own. */
export async function applySettings(
  agent: AcpAgent,
  settings: ThreadSettings,
  profile: AcpProfile,
): Promise<void> {
  await chooseModel(agent, settings.model.slice(profile.id.length + 1), profile);
  for (const { option } of agent.initial.others) {
    const value = Object.hasOwn(settings.config, option.id) ? settings.config[option.id] : undefined;
    // One choice may remove another selector.
    const current = agent.selectors.others.find((selector) => selector.option.id === option.id);
    if (current !== undefined) await choose(agent, current, value, option.value);
  }
  refuseAutonomousMode(agent, settings, profile);
}

async function chooseModel(agent: AcpAgent, name: string, { displayName }: AcpProfile): Promise<void> {
  const { model } = agent.selectors;
  if (model === undefined && (name === DEFAULT_MODEL || name === "")) return;
  const offered = model?.option.options.map(({ id }) => id) ?? [];
  const value = name === DEFAULT_MODEL && !offered.includes(name) ? undefined : name;
  if (model === undefined || (value !== undefined && !offered.includes(value))) {
    const known = [DEFAULT_MODEL, ...offered].slice(0, MODELS_SHOWN).join(", ");
    const message = `${displayName} offers no model ${name}. Choose one of: ${known}.`;
    throw new FlintError("invalidParams", message);
  }
  await choose(agent, model, value, agent.initial.model?.option.value ?? model.option.value);
}

/** A selector without a chosen value is left to the agent, which may have changed it; only an earlier choice is undone. */
async function choose(
  agent: AcpAgent,
  selector: Selector,
  chosen: string | undefined,
  initial: string,
): Promise<void> {
  const { id, value, options } = selector.option;
  if (chosen === undefined && !agent.chosen.has(id)) return;
  const next = chosen ?? initial;
  if (value !== next && options.some((choice) => choice.id === next))
    await agent.choose(selector, next, CHOOSE_MS);
  if (chosen === undefined) agent.chosen.delete(id);
  else agent.chosen.add(id);
}

/** Where the approval policy is to ask about everything, an agent cannot work in a mode in which it asks about nothing. */
function refuseAutonomousMode(
  agent: AcpAgent,
  { approvalPolicy }: ThreadSettings,
  { displayName, autonomousModes }: AcpProfile,
): void {
  if (approvalPolicy !== "always") return;
  const mode = agent.selectors.others.find(
    ({ option }) => option.category === "mode" || option.id === "mode",
  );
  const value = mode?.option.value;
  if (value === undefined || !autonomousModes.includes(value)) return;
  const message = `${displayName} does not ask in its mode ${value}, and the approval policy is always. Choose another mode or another policy.`;
  throw new FlintError("invalidParams", message);
}
