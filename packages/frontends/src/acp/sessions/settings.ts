import { FlintError, type Model } from "@flint/protocol";
import type { CoreCalls } from "../../shared/core-calls.ts";
import type { FrontendServices, InitializedClient } from "../client-state.ts";
import { agentsOf } from "../prompt/commands.ts";
import {
  AUTO_RESUME_OPTION,
  agentOptionId,
  type ConfigState,
  configStateOf,
  EDITOR_FILES_OPTION,
  MODE_OPTION,
  MODEL_OPTION,
} from "./config-options.ts";
import { permissionsOf } from "./modes.ts";
import type { AcpSession } from "./session.ts";

/** Reads and changes the config of the sessions of one client. */
export class SessionSettings {
  readonly #core: CoreCalls;
  readonly #shared: FrontendServices;
  readonly #self: () => InitializedClient;

  constructor(core: CoreCalls, shared: FrontendServices, self: () => InitializedClient) {
    this.#core = core;
    this.#shared = shared;
    this.#self = self;
  }

  /** The models of all agents; none if they cannot be listed. */
  async models(): Promise<readonly Model[]> {
    const listed = await this.#core.call("model/list", {}).catch(() => undefined);
    return listed?.data ?? [];
  }

  /** The ids of all agents. */
  async agents(): Promise<readonly string[]> {
    return agentsOf((await this.models()).map(({ id }) => id));
  }

  /** The present config of a session. */
  async read(session: AcpSession): Promise<ConfigState> {
    const [config, models] = await Promise.all([
      this.#core.call("config/read", { threadId: session.id }),
      this.models(),
    ]);
    const { autoResume } = this.#shared;
    const { editorFiles } = session;
    return configStateOf({
      config,
      models,
      capabilities: this.#self().capabilities,
      autoResume,
      editorFiles,
    });
  }

  /** Records the config that the client has. */
  recordSent(session: AcpSession, { configOptions, modes, models }: ConfigState): void {
    session.sentConfig = {
      modeId: modes.currentModeId,
      modelId: models.currentModelId,
      options: JSON.stringify(configOptions),
    };
  }

  /** Sends the client what has changed in the config since it was last sent. */
  async refresh(session: AcpSession): Promise<void> {
    // Expected: a thread that was deleted meanwhile.
    const config = await this.read(session).catch(() => undefined);
    if (config === undefined) return;
    const { version, capabilities } = this.#self();
    const updates = version.configUpdates(session.sentConfig, config, capabilities);
    this.recordSent(session, config);
    session.send(updates);
  }

  /** Sets the mode. `done` is called before any event that this causes. */
  async setMode(session: AcpSession, modeId: string, done: () => void): Promise<void> {
    const threadId = session.id;
    const { approvalPolicy, sandboxPolicy } = await this.#core.call("config/read", { threadId });
    const before = { approvalPolicy, sandboxPolicy };
    const permissions = permissionsOf(modeId, before, session.additionalDirectories);
    const changes = { approvalPolicy: permissions.approvalPolicy, sandbox: permissions.sandboxPolicy };
    await this.#core.call("thread/settings/update", { threadId, ...changes }, done);
  }

  /** Sets the model. `done` is called before any event that this causes. */
  async setModel(session: AcpSession, model: string, done: () => void): Promise<void> {
    await this.#core.call("thread/settings/update", { threadId: session.id, model }, done);
  }

  /** Sets a config option, and replies with all of them. */
  async setOption(
    session: AcpSession,
    configId: string,
    value: string,
    reply: (response: unknown) => void,
  ): Promise<void> {
    await this.#set(session, configId, value);
    const config = await this.read(session);
    this.recordSent(session, config);
    reply({ configOptions: this.#self().version.configOptions(config) });
  }

  async #set(session: AcpSession, configId: string, value: string): Promise<void> {
    const done = () => undefined;
    if (configId === MODE_OPTION) await this.setMode(session, value, done);
    else if (configId === MODEL_OPTION) await this.setModel(session, value, done);
    else if (configId === AUTO_RESUME_OPTION) this.#shared.autoResume = booleanValue(configId, value);
    else if (configId === EDITOR_FILES_OPTION) session.editorFiles = booleanValue(configId, value);
    else {
      const option = { threadId: session.id, id: agentOptionId(configId), value };
      await this.#core.call("config/set", option, done);
    }
  }
}

function booleanValue(configId: string, value: string): boolean {
  if (value === "true" || value === "false") return value === "true";
  const message = `${JSON.stringify(value)} is not a value of ${configId}. Use true or false.`;
  throw new FlintError("invalidParams", message, { field: "value", known: ["true", "false"] });
}
