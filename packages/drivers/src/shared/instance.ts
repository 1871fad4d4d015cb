import {
  type Account,
  type AccountControl,
  type Driver,
  type DriverEvent,
  type DriverSession,
  type McpServerStatus,
  type NativeHistory,
  type NativeSessions,
  type SessionSpec,
  type SetupProblem,
  type Steering,
  stoppableTurn,
  type TurnContext,
  type UsageReports,
} from "@flint/core/ports";
import type {
  AgentFeature,
  ConfigOption,
  ConfigValues,
  FolderSkills,
  Model,
  ReportedLimit,
  ThreadSettings,
  UserInput,
} from "@flint/protocol";
import type { AgentDescriptor } from "./agent.ts";
import { DescribedDriver } from "./driver.ts";

/**
 * A second agent of a kind, under a name of its own: the driver of that kind, with the name in the ids of its models.
 * Nothing else is shared between the agents of one kind.
 */
export class InstanceDriver extends DescribedDriver implements Driver {
  readonly #driver: Driver;

  constructor(descriptor: AgentDescriptor, driver: Driver) {
    super(descriptor);
    this.#driver = driver;
  }

  async models(): Promise<readonly Model[]> {
    return (await this.#driver.models()).map((model) => ({ ...model, id: this.#own(model.id) }));
  }

  async defaultModel(): Promise<string> {
    return this.#own((await this.#driver.defaultModel?.()) ?? `${this.#driver.id}/default`);
  }

  options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    return this.#driver.options(this.#inner(model), values);
  }

  async open(spec: SessionSpec): Promise<DriverSession> {
    const session = await this.#driver.open({ ...spec, settings: this.#settings(spec.settings) });
    return new InstanceSession(session, (turn) => this.#turn(turn));
  }

  override async usageReports(model: string): Promise<UsageReports> {
    return (await this.#driver.usageReports?.(this.#inner(model))) ?? super.usageReports(model);
  }

  async setupProblem(cwd: string): Promise<SetupProblem | undefined> {
    return this.#driver.setupProblem?.(cwd);
  }

  async account(): Promise<Account> {
    return (await this.#driver.account?.()) ?? { account: null, requiresLogin: false };
  }

  async accountControl(): Promise<AccountControl | undefined> {
    return this.#driver.accountControl?.();
  }

  async features(): Promise<readonly AgentFeature[]> {
    return (await this.#driver.features?.()) ?? [];
  }

  async skills(cwd: string, steering: Steering): Promise<FolderSkills> {
    return (await this.#driver.skills?.(cwd, steering)) ?? { cwd, skills: [], errors: [] };
  }

  async limits(): Promise<readonly ReportedLimit[]> {
    return (await this.#driver.limits?.()) ?? [];
  }

  async mcpServers(): Promise<readonly McpServerStatus[]> {
    return (await this.#driver.mcpServers?.()) ?? [];
  }

  async nativeSessions(): Promise<NativeSessions | undefined> {
    const sessions = await this.#driver.nativeSessions?.();
    if (sessions === undefined) return undefined;
    return {
      list: (limit) => sessions.list(limit),
      read: async (id): Promise<NativeHistory> => {
        const history = await sessions.read(id);
        return { ...history, model: history.model === undefined ? undefined : this.#own(history.model) };
      },
    };
  }

  async close(): Promise<void> {
    await this.#driver.close?.();
  }

  #own(model: string): string {
    return renamed(model, this.#driver.id, this.id);
  }

  #inner(model: string): string {
    return renamed(model, this.id, this.#driver.id);
  }

  #settings(settings: ThreadSettings): ThreadSettings {
    return { ...settings, model: this.#inner(settings.model) };
  }

  #turn(turn: TurnContext): TurnContext {
    return {
      ...stoppableTurn(turn, turn.signal),
      settings: this.#settings(turn.settings),
      emit: (event) => turn.emit(this.#event(event)),
    };
  }

  #event(event: DriverEvent): DriverEvent {
    if (event.type !== "model/rerouted") return event;
    return { ...event, fromModel: this.#own(event.fromModel), toModel: this.#own(event.toModel) };
  }
}

/** The session of an instance. What its agent cannot do, it cannot either. */
class InstanceSession implements DriverSession {
  readonly #session: DriverSession;
  readonly #turn: (turn: TurnContext) => TurnContext;
  readonly steer?: (input: readonly UserInput[]) => Promise<boolean>;

  constructor(session: DriverSession, turn: (turn: TurnContext) => TurnContext) {
    this.#session = session;
    this.#turn = turn;
    if (session.steer !== undefined) this.steer = (input) => session.steer?.(input) ?? Promise.resolve(false);
  }

  run(turn: TurnContext) {
    return this.#session.run(this.#turn(turn));
  }

  isBusy(): boolean {
    return this.#session.isBusy?.() === true;
  }

  async backgroundCommands() {
    return (await this.#session.backgroundCommands?.()) ?? [];
  }

  async stopBackgroundCommand(processId: string): Promise<boolean> {
    return (await this.#session.stopBackgroundCommand?.(processId)) ?? false;
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

function renamed(model: string, from: string, to: string): string {
  return model.startsWith(`${from}/`) ? `${to}${model.slice(from.length)}` : model;
}
