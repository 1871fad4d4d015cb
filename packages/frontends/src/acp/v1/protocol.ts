import type {
  AuthMethod,
  AvailableCommand,
  InitializeResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { ClientCapabilities } from "../capabilities.ts";
import { type Login, loginArguments, loginId, loginLabels } from "../login.ts";
import type { OfferedCommand } from "../prompt/commands.ts";
import type { ProtocolVersion, SentConfig, Update } from "../protocol-version.ts";
import type { ConfigState } from "../sessions/config-options.ts";
import { UpdatesV1 } from "./updates.ts";

/** Version 1 of the protocol. */
export const V1: ProtocolVersion = {
  version: 1,
  acknowledgesPrompts: false,
  initializeResponse,
  sessionResponse: (config) => config,
  configOptions: ({ configOptions }) => configOptions,
  configUpdates,
  commandUpdates,
  changedCommands: commandUpdates,
  updates: (capabilities) => new UpdatesV1(capabilities),
};

function commandUpdates(commands: readonly OfferedCommand[]) {
  return [update({ sessionUpdate: "available_commands_update", availableCommands: commands.map(commandOf) })];
}

function initializeResponse(
  version: string,
  { terminalAuth }: ClientCapabilities,
  logins: readonly Login[],
): InitializeResponse {
  return {
    protocolVersion: 1,
    agentInfo: { name: "flint", title: "Flint", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: {
        list: {},
        delete: {},
        resume: {},
        close: {},
        additionalDirectories: {},
        // Not in the stable schema; clients ignore what they do not know.
        ...{ fork: {}, status: {}, title: {}, systemPrompt: {} },
      },
    },
    authMethods: logins.map((login) => authMethod(login, terminalAuth)),
    _meta: { steering: { supported: true } },
  };
}

/** A client with terminals runs Flint with these arguments in one; others show the command. */
function authMethod(login: Login, inTerminal: boolean): AuthMethod {
  const method = { id: loginId(login.agent), ...loginLabels(login) };
  return inTerminal ? { ...method, type: "terminal", args: loginArguments(login.agent) } : method;
}

function commandOf({ name, description, hint }: OfferedCommand): AvailableCommand {
  return { name, description, ...(hint === undefined ? {} : { input: { hint } }) };
}

/** The mode has an update of its own, and the model one that clients ask for with a capability of their own. */
function configUpdates(
  sent: SentConfig,
  config: ConfigState,
  { modelUpdates }: ClientCapabilities,
): Update[] {
  const { configOptions, modes, models } = config;
  const { currentModeId } = modes;
  const { currentModelId } = models;
  const options = JSON.stringify(configOptions);
  const model = { sessionUpdate: "current_model_update", currentModelId };
  const mode = update({ sessionUpdate: "current_mode_update", currentModeId });
  return [
    ...(sent.modeId === currentModeId ? [] : [mode]),
    ...(modelUpdates && sent.modelId !== currentModelId ? [model] : []),
    ...(sent.options === options
      ? []
      : [update({ sessionUpdate: "config_option_update", configOptions: [...configOptions] })]),
  ];
}

/** Has the compiler check an update against the schema. */
function update(checked: SessionUpdate): SessionUpdate {
  return checked;
}
