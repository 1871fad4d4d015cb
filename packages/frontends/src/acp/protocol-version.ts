import type { ClientCapabilities } from "./capabilities.ts";
import type { OfferedCommand } from "./prompt/commands.ts";
import type { ConfigState } from "./sessions/config-options.ts";
import type { Update, UpdateFormat } from "./views/update-format.ts";

/** What differs between the versions of the protocol. */
export interface ProtocolVersion {
  readonly version: 1 | 2;
  /** Whether a prompt is answered once its message is in the conversation, not when its turn has ended. */
  readonly acknowledgesPrompts: boolean;
  /** The response to `initialize`. */
  initializeResponse(flintVersion: string, capabilities: ClientCapabilities): object;
  /** The response to a request that opens a session, without the session id. */
  sessionResponse(config: ConfigState, commands: readonly OfferedCommand[]): object;
  /** The config options as a response. */
  configOptions(config: ConfigState): readonly object[];
  /** What is sent when the config of an open session changes. */
  configUpdates(sent: SentConfig, config: ConfigState, capabilities: ClientCapabilities): readonly Update[];
  /** What is sent after a session was opened, to offer commands. */
  commandUpdates(commands: readonly OfferedCommand[]): readonly Update[];
  /** The updates for clients with these capabilities. */
  updates(capabilities: ClientCapabilities): UpdateFormat;
}

/** The config that a client was last sent. */
export interface SentConfig {
  readonly modeId: string;
  readonly modelId: string;
  /** All config options, encoded. */
  readonly options: string;
}
