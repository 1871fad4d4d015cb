import { join } from "node:path";
import { readRegularText } from "@flint/host/files";
import { CLAUDE_KEYS } from "../agent.ts";
import type { AgentKeys, RelayedStart } from "./agent-keys.ts";

type Variables = Readonly<Record<string, string>>;

/** The default address of Claude's requests. */
const DEFAULT_MODEL = "https://api.anthropic.com";

/** The variable with headers that the user adds to each request, such as the key of a gateway. */
const HEADERS = "ANTHROPIC_CUSTOM_HEADERS";

/** Other providers have addresses and keys of their own. */
const OTHER_PROVIDER = /^CLAUDE_CODE_USE_(?:BEDROCK|VERTEX|FOUNDRY|MANTLE|GATEWAY|ANTHROPIC_AWS)$/;

/** Settings of an organization, which win over everything that Claude is started with. */
const MANAGED_SETTINGS = "/etc/claude-code/managed-settings.json";

const MOST_BYTES = 1024 * 1024;

/** The sources of Claude's variables. */
export interface KeySources {
  readonly environment: Variables;
  /** Claude's own folder. */
  readonly folder: string;
  /**
   * True if the variables that Claude is started with take precedence over the user's settings of Claude,
   * which otherwise may name a model.
   */
  readonly overridesSettings: boolean;
  readonly managedSettings?: string;
  /** Returns how it is started with these variables beside its own, which name a relay as its model. */
  start(variables: Variables): RelayedStart;
}

/**
 * The keys that are kept from Claude and from the commands that it runs. Undefined if it has none, or if Claude would not
 * use a relay: settings that cannot be overridden say where its model is.
 */
export async function claudeKeys(sources: KeySources): Promise<AgentKeys | undefined> {
  const { environment, folder, managedSettings = MANAGED_SETTINGS } = sources;
  const user = await settingsVariables(join(folder, "settings.json"));
  const managed = await settingsVariables(managedSettings);
  const given = { ...environment, ...user, ...managed };
  // The settings take precedence over the variables of a process.
  const variables = CLAUDE_KEYS.filter((name) => isOwn(name, environment, user, managed));
  const headers = [HEADERS].filter((name) => isOwn(name, environment, user, managed));
  if (variables.length + headers.length === 0 || usesOtherProvider(given)) return undefined;
  const isFixed = managed.ANTHROPIC_BASE_URL !== undefined;
  const isNamed = user.ANTHROPIC_BASE_URL !== undefined && !sources.overridesSettings;
  const upstream = given.ANTHROPIC_BASE_URL ?? DEFAULT_MODEL;
  if (isFixed || isNamed || !/^https?:/.test(upstream) || !URL.canParse(upstream)) return undefined;
  return {
    ...{ upstream: new URL(upstream), variables, headers },
    start: (address) => sources.start(relayVariables(address, upstream)),
  };
}

/** Through a relay Claude works as with the address of its model. */
function relayVariables(address: string, upstream: string): Variables {
  const isFirstParty = new URL(upstream).host === new URL(DEFAULT_MODEL).host;
  return {
    ANTHROPIC_BASE_URL: address,
    ...(isFirstParty ? { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" } : {}),
  };
}

function isOwn(name: string, environment: Variables, ...settings: readonly Variables[]): boolean {
  return (environment[name] ?? "") !== "" && settings.every((variables) => variables[name] === undefined);
}

function usesOtherProvider(variables: Variables): boolean {
  return Object.entries(variables).some(
    ([name, value]) => OTHER_PROVIDER.test(name) && !["", "0", "false"].includes(value.toLowerCase()),
  );
}

/** The variables in a settings file of Claude; none if there is no such file, or Claude could not read it either. */
async function settingsVariables(path: string): Promise<Variables> {
  const text = await readRegularText(path, MOST_BYTES);
  // Expected: a file that is being edited and no JSON.
  try {
    const settings: unknown = typeof text === "string" ? JSON.parse(text) : {};
    const { env } = Object(settings);
    return Object.fromEntries(Object.entries(Object(env)).map(([name, value]) => [name, String(value)]));
  } catch {
    return {};
  }
}
