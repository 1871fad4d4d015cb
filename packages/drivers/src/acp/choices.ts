import { FlintError, type ThreadSettings } from "@flint/protocol";
import { OWN_CHOICE, type Selector } from "./models.ts";
import type { AcpAgent } from "./process/agent.ts";
import type { AcpAgentOptions } from "./process/launch.ts";

/** How long an agent may take to change one of its settings. */
const CHOOSE_MS = 20_000;
const MODELS_SHOWN = 20;

/** Sets the model, the mode and everything else that the thread's settings say, as far as it is not so already. */
export async function chooseAll(
  agent: AcpAgent,
  settings: ThreadSettings,
  options: AcpAgentOptions,
): Promise<void> {
  await chooseModel(agent, settings.model.slice(options.profile.id.length + 1), options);
  for (const { option } of agent.initial.others) {
    const wanted = Object.hasOwn(settings.config, option.id) ? settings.config[option.id] : undefined;
    // One choice may take another one away.
    const current = agent.selectors.others.find((selector) => selector.option.id === option.id);
    if (current !== undefined) await choose(agent, current, wanted, option.value);
  }
  refuseUnasked(agent, settings, options);
}

async function chooseModel(agent: AcpAgent, wanted: string, { profile }: AcpAgentOptions): Promise<void> {
  const { model } = agent.selectors;
  if (model === undefined && (wanted === OWN_CHOICE || wanted === "")) return;
  const offered = model?.option.options.map(({ id }) => id) ?? [];
  const name = wanted === OWN_CHOICE && !offered.includes(wanted) ? undefined : wanted;
  if (model === undefined || (name !== undefined && !offered.includes(name))) {
    const known = [OWN_CHOICE, ...offered].slice(0, MODELS_SHOWN).join(", ");
    throw new FlintError(
      "invalidParams",
      `${profile.displayName} offers no model ${wanted}. Choose one of: ${known}.`,
    );
  }
  await choose(agent, model, name, agent.initial.model?.option.value ?? model.option.value);
}

/** What nobody wants is left to the agent, which may have changed it for a reason; only what was wanted before is undone. */
async function choose(
  agent: AcpAgent,
  selector: Selector,
  wanted: string | undefined,
  initial: string,
): Promise<void> {
  const { id, value, options } = selector.option;
  if (wanted === undefined && !agent.chosen.has(id)) return;
  const next = wanted ?? initial;
  if (value !== next && options.some((choice) => choice.id === next))
    await agent.choose(selector, next, CHOOSE_MS);
  if (wanted === undefined) agent.chosen.delete(id);
  else agent.chosen.add(id);
}

/** A user who wants to be asked about everything is not given an agent that asks about nothing. */
function refuseUnasked(
  agent: AcpAgent,
  { approvalPolicy }: ThreadSettings,
  { profile }: AcpAgentOptions,
): void {
  if (approvalPolicy !== "always") return;
  const mode = agent.selectors.others.find(
    ({ option }) => option.category === "mode" || option.id === "mode",
  );
  const value = mode?.option.value;
  if (value === undefined || !profile.modesWithoutAsking.includes(value)) return;
  const message = `${profile.displayName} does not ask in its mode ${value}, and the approval policy is always. Choose another mode or another policy.`;
  throw new FlintError("invalidParams", message);
}
