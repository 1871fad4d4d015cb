import { FlintError, type Model } from "@flint/protocol";
import type { Client } from "../../shared/frontend.ts";
import type { ClientCapabilities } from "../capabilities.ts";
import { answerOf } from "../core.ts";
import { agentsOf } from "../prompt/commands.ts";
import type { ProtocolVersion } from "../protocol-version.ts";
import type { SharedState } from "../shared-state.ts";
import {
  AUTO_RESUME_OPTION,
  agentOptionId,
  type ConfigState,
  configStateOf,
  EDITOR_FILES_OPTION,
  MODE_OPTION,
  MODEL_OPTION,
} from "./config-options.ts";
import { permitsOf } from "./modes.ts";
import type { AcpSession } from "./session.ts";

/** What can be chosen in the sessions of one client: read, set, and told again when it changes. */
export class SessionSettings {
  readonly #client: Client;
  readonly #shared: SharedState;
  readonly #capabilities: () => ClientCapabilities;
  readonly #version: () => ProtocolVersion;

  constructor(
    client: Client,
    shared: SharedState,
    capabilities: () => ClientCapabilities,
    version: () => ProtocolVersion,
  ) {
    this.#client = client;
    this.#shared = shared;
    this.#capabilities = capabilities;
    this.#version = version;
  }

  /** The models of all agents; none if no agent can say. */
  async models(): Promise<readonly Model[]> {
    const listed = await answerOf(this.#client, "model/list", {}).catch(() => undefined);
    return listed?.data ?? [];
  }

  /** The agents there are. */
  async agents(): Promise<readonly string[]> {
    return agentsOf((await this.models()).map(({ id }) => id));
  }

  /** What can be chosen in a session now. */
  async read(session: AcpSession): Promise<ConfigState> {
    const [config, models] = await Promise.all([
      answerOf(this.#client, "config/read", { threadId: session.id }),
      this.models(),
    ]);
    const { autoResume } = this.#shared;
    const { editorFiles } = session;
    return configStateOf({ config, models, capabilities: this.#capabilities(), autoResume, editorFiles });
  }

  /** Records the config that the client has. */
  recordSent(session: AcpSession, { configOptions, modes, models }: ConfigState): void {
    session.sentConfig = {
      modeId: modes.currentModeId,
      modelId: models.currentModelId,
      options: JSON.stringify(configOptions),
    };
  }

  /** Sends the client what changed in the config since it was last sent. */
  async refresh(session: AcpSession): Promise<void> {
    // Expected: a thread that was deleted meanwhile.
    const config = await this.read(session).catch(() => undefined);
    if (config === undefined) return;
    const updates = this.#version().configUpdates(session.sentConfig, config, this.#capabilities());
    this.recordSent(session, config);
    for (const update of updates) session.update(update);
  }

  async setMode(session: AcpSession, modeId: string, done: () => void): Promise<void> {
    const { approvalPolicy, sandboxPolicy } = await answerOf(this.#client, "config/read", {
      threadId: session.id,
    });
    const permits = permitsOf(modeId, { approvalPolicy, sandboxPolicy }, session.roots);
    const wanted = { approvalPolicy: permits.approvalPolicy, sandbox: permits.sandboxPolicy };
    await this.#client.core.call("thread/settings/update", { threadId: session.id, ...wanted }, done);
  }

  async setModel(session: AcpSession, model: string, done: () => void): Promise<void> {
    await this.#client.core.call("thread/settings/update", { threadId: session.id, model }, done);
  }

  /** Sets any option, and answers all of them. */
  async setOption(
    session: AcpSession,
    configId: string,
    value: string,
    reply: (answer: unknown) => void,
  ): Promise<void> {
    const nothing = () => undefined;
    if (configId === MODE_OPTION) await this.setMode(session, value, nothing);
    else if (configId === MODEL_OPTION) await this.setModel(session, value, nothing);
    else if (configId === AUTO_RESUME_OPTION) this.#shared.autoResume = isOn(configId, value);
    else if (configId === EDITOR_FILES_OPTION) session.editorFiles = isOn(configId, value);
    else
      await this.#client.core.call(
        "config/set",
        { threadId: session.id, id: agentOptionId(configId), value },
        nothing,
      );
    const config = await this.read(session);
    this.recordSent(session, config);
    reply({ configOptions: this.#version().configOptions(config) });
  }
}

function isOn(configId: string, value: string): boolean {
  if (value === "true" || value === "false") return value === "true";
  const known = ["true", "false"];
  const message = `${JSON.stringify(value)} is not a value of ${configId}. Known: true, false.`;
  throw new FlintError("invalidParams", message, { field: "value", known });
}
