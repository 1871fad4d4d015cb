import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { FlintError, type Model } from "@flint/protocol";
import type { DeskClient } from "../../desk.ts";
import type { ClientAbilities } from "../capabilities.ts";
import { answerOf } from "../core.ts";
import { agentsOf } from "../prompt/commands.ts";
import type { Words } from "../protocol-version.ts";
import type { SharedState } from "../shared-state.ts";
import {
  AUTO_RESUME_OPTION,
  agentOptionId,
  type Choices,
  choicesOf,
  EDITOR_FILES_OPTION,
  MODE_OPTION,
  MODEL_OPTION,
} from "./config-options.ts";
import { permitsOf } from "./modes.ts";
import type { AcpSession } from "./session.ts";

/** What can be chosen in the sessions of one client: read, set, and told again when it changes. */
export class SessionSettings {
  readonly #client: DeskClient;
  readonly #shared: SharedState;
  readonly #abilities: () => ClientAbilities;
  readonly #words: () => Words;

  constructor(client: DeskClient, shared: SharedState, abilities: () => ClientAbilities, words: () => Words) {
    this.#client = client;
    this.#shared = shared;
    this.#abilities = abilities;
    this.#words = words;
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
  async read(session: AcpSession): Promise<Choices> {
    const [config, models] = await Promise.all([
      answerOf(this.#client, "config/read", { threadId: session.id }),
      this.models(),
    ]);
    const { autoResume } = this.#shared;
    const { editorFiles } = session;
    return choicesOf({ config, models, abilities: this.#abilities(), autoResume, editorFiles });
  }

  /** Notes that the client knows what can be chosen. */
  told(session: AcpSession, { configOptions, modes, models }: Choices): void {
    session.toldChoices = JSON.stringify(configOptions);
    session.toldMode = modes.currentModeId;
    session.toldModel = models.currentModelId;
  }

  /** Tells the client what can be chosen, if that is something else than it was told last. */
  async refresh(session: AcpSession): Promise<void> {
    // Expected: a thread that was deleted meanwhile.
    const choices = await this.read(session).catch(() => undefined);
    if (choices === undefined) return;
    const { configOptions, modes } = choices;
    const words = this.#words();
    const isMode = words.version === 1 && session.toldMode !== modes.currentModeId;
    const isModel = this.#abilities().modelUpdates && session.toldModel !== choices.models.currentModelId;
    const isOption = session.toldChoices !== JSON.stringify(configOptions);
    this.told(session, choices);
    const mode: SessionUpdate = { sessionUpdate: "current_mode_update", currentModeId: modes.currentModeId };
    if (isMode) session.update(mode);
    const { currentModelId } = choices.models;
    const model = { sessionUpdate: "current_model_update", currentModelId };
    if (isModel) session.update(model);
    if (isOption) for (const update of words.chosen(choices)) session.update(update);
  }

  async setMode(session: AcpSession, modeId: string, done: () => void): Promise<void> {
    const { approvalPolicy, sandboxPolicy } = await answerOf(this.#client, "config/read", {
      threadId: session.id,
    });
    const permits = permitsOf(modeId, { approvalPolicy, sandboxPolicy }, session.roots);
    const wanted = { approvalPolicy: permits.approvalPolicy, sandbox: permits.sandboxPolicy };
    await this.#client.call("thread/settings/update", { threadId: session.id, ...wanted }, done);
  }

  async setModel(session: AcpSession, model: string, done: () => void): Promise<void> {
    await this.#client.call("thread/settings/update", { threadId: session.id, model }, done);
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
      await this.#client.call(
        "config/set",
        { threadId: session.id, id: agentOptionId(configId), value },
        nothing,
      );
    const choices = await this.read(session);
    this.told(session, choices);
    reply({ configOptions: this.#words().options(choices) });
  }
}

function isOn(configId: string, value: string): boolean {
  if (value === "true" || value === "false") return value === "true";
  const known = ["true", "false"];
  const message = `${JSON.stringify(value)} is not a value of ${configId}. Known: true, false.`;
  throw new FlintError("invalidParams", message, { field: "value", known });
}
