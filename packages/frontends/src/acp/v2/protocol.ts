import type { SessionConfigOption as ConfigOptionV1 } from "@agentclientprotocol/sdk";
import type {
  AuthMethod,
  AvailableCommand,
  InitializeResponse,
  SessionConfigOption,
  SessionUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import type { ClientCapabilities } from "../capabilities.ts";
import { type Login, loginArguments, loginId, loginLabels } from "../login.ts";
import type { OfferedCommand } from "../prompt/commands.ts";
import type { ProtocolVersion, SentConfig } from "../protocol-version.ts";
import type { ConfigState } from "../sessions/config-options.ts";
import { UpdatesV2 } from "./updates.ts";

/** Version 2 of the protocol, as drafted in SDK 2.4.0. */
export const V2: ProtocolVersion = {
  version: 2,
  acknowledgesPrompts: true,
  initializeResponse,
  sessionResponse: (config, commands) => ({
    configOptions: configOptions(config),
    availableCommands: commands.map(commandOf),
  }),
  configOptions,
  configUpdates,
  // They are part of the response that opens the session.
  commandUpdates: () => [],
  changedCommands: (commands) => [
    { sessionUpdate: "available_commands_update", availableCommands: commands.map(commandOf) },
  ],
  updates: () => new UpdatesV2(),
};

function initializeResponse(
  version: string,
  { terminalAuth }: ClientCapabilities,
  logins: readonly Login[],
): InitializeResponse {
  return {
    protocolVersion: 2,
    info: { name: "flint", title: "Flint", version },
    capabilities: {
      session: {
        prompt: { image: {}, embeddedContext: {} },
        mcp: { stdio: {}, http: {} },
        delete: {},
        additionalDirectories: {},
        // Not in the stable schema; clients ignore what they do not know.
        ...{ fork: {}, title: {}, systemPrompt: {} },
      },
      auth: {},
    },
    authMethods: logins.map((login) => authMethod(login, terminalAuth)),
    _meta: { steering: { supported: true } },
  };
}

function authMethod(login: Login, inTerminal: boolean): AuthMethod {
  const method = { methodId: loginId(login.agent), ...loginLabels(login) };
  if (!inTerminal) return { ...method, type: "agent" };
  return { ...method, type: "terminal", args: loginArguments(login.agent) };
}

function commandOf({ name, description, hint }: OfferedCommand): AvailableCommand {
  const input = hint === undefined ? {} : { input: { type: "text" as const, hint } };
  return { type: "command", name, description, ...input };
}

function configOptions(config: ConfigState): SessionConfigOption[] {
  return config.configOptions.map(optionOf);
}

/** Only the name of the id differs from version 1. */
function optionOf({ id, ...option }: ConfigOptionV1): SessionConfigOption {
  const renamed: unknown = { configId: id, ...option };
  // The other fields are the same in both versions, but typed twice.
  return renamed as SessionConfigOption;
}

/** Mode and model are config options like all others. */
function configUpdates(sent: SentConfig, config: ConfigState): SessionUpdate[] {
  if (sent.options === JSON.stringify(config.configOptions)) return [];
  return [{ sessionUpdate: "config_option_update", configOptions: configOptions(config) }];
}
