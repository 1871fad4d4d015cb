import {
  CONTEXT_LENGTH,
  DEFAULT_NATIVE_OPTIONS,
  findModel,
  type NativeOptions,
  OFFLINE_ID,
  OFFLINE_SELECTORS,
  type Provider,
  providersOf,
  REASONING_EFFORT,
  requireConfigured,
  runsLocally,
  type Selector,
  selectedValue,
  selectorsOf,
  TEMPERATURE,
  toConfigOption,
} from "@flint/agent";
import type { ModelListing } from "@flint/agent/listing";
import type { ToolSource } from "@flint/agent/loop";
import {
  type Account,
  type AccountControl,
  type AgentCapabilities,
  ALL_CAPABILITIES,
  type Clock,
  type Driver,
  type DriverSession,
  KEEP_ALIVE_CLOCK,
  type McpServerStatus,
  type PassedSetting,
  type SessionSpec,
  type UsageReports,
} from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model as ModelRow, ThreadSettings } from "@flint/protocol";
import { ConfiguredKeys } from "../shared/fixed-account.ts";

/** Tools of MCP servers, and the status of those servers. */
interface ServerTools extends ToolSource {
  statuses(): readonly McpServerStatus[];
}

/** Flint's own agent: a tool loop around a model, in this process. Asks no provider anything before it must. */
export class NativeDriver implements Driver {
  readonly id = "flint";
  readonly asksFirst = true;
  readonly asksToWrite = true;
  readonly explainsDenials = true;
  readonly #options: NativeOptions;
  readonly #providers: readonly Provider[];
  readonly #clock: Clock;
  readonly #servers = new Set<ServerTools>();
  #listing: Promise<ModelListing> | undefined;

  constructor(options: Partial<NativeOptions> = {}, clock: Clock = KEEP_ALIVE_CLOCK) {
    this.#options = { ...DEFAULT_NATIVE_OPTIONS, ...options };
    this.#providers = providersOf(this.#options.access);
    this.#clock = clock;
  }

  async models(): Promise<readonly ModelRow[]> {
    return (await this.#list()).models();
  }

  async defaultModel(): Promise<string> {
    return (await this.#list()).defaultModel();
  }

  qualify(name: string): string | undefined {
    if (name === OFFLINE_ID) return name;
    const found = findModel(name, this.#providers);
    if (found !== undefined) requireConfigured(found);
    return found?.id;
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    const listing = await this.#list();
    const found = findModel(model, this.#providers);
    // Loads what the model's own server reports about it.
    if (found?.provider.isConfigured === true) await listing.facts(found);
    const selectors = this.#selectors(model, listing);
    return selectors.map((selector) => toConfigOption(selector, model, values));
  }

  provider(model: string): string {
    return findModel(model, this.#providers)?.provider.id ?? this.#defaultProvider(model);
  }

  /** Of the providers, only the offline model does not reason. */
  capabilities(model: string): AgentCapabilities {
    return { ...ALL_CAPABILITIES, reasoning: this.provider(model) !== this.id };
  }

  /** Only OpenAI's models have a setting for how much of their reasoning to summarize. */
  passedSettings(model: string): readonly PassedSetting[] {
    return findModel(model, this.#providers)?.provider.kind === "openai" ? ["summary"] : [];
  }

  /** The loop and its model are loaded with the first session, not with the server. */
  async open(spec: SessionSpec): Promise<DriverSession> {
    const [{ NativeSession }, { ModelCache }, listing] = await Promise.all([
      import("./session.ts"),
      import("@flint/agent/model-cache"),
      this.#list(),
    ]);
    const { web, offlineScript, stepLimit } = this.#options;
    const offline = async () =>
      new (await import("@flint/offline-model")).OfflineModel({ script: offlineScript });
    const models = new ModelCache(this.#providers, listing, this.#clock, offline);
    const value = ({ model, config }: ThreadSettings, id: string): string | undefined => {
      const selector = this.#selectors(model, listing).find((known) => known.id === id);
      return selector === undefined ? undefined : selectedValue(selector, config);
    };
    return new NativeSession(spec, {
      modelOf: ({ model }) => models.model(model),
      temperatureOf: (settings) => Number(value(settings, TEMPERATURE) ?? 0),
      contextLengthOf: (settings) => Number(value(settings, CONTEXT_LENGTH)),
      reasoningEffortOf: (settings) => value(settings, REASONING_EFFORT),
      web,
      stepLimit,
      sources: await this.#sources(spec),
    });
  }

  /** Every model reports its tokens; what a local one costs is not money, and that of others needs a price. */
  async usageReports(model: string): Promise<UsageReports> {
    const found = model === OFFLINE_ID ? undefined : findModel(model, this.#providers);
    const isFree = found === undefined || runsLocally(found.provider);
    if (isFree) return { tokens: "call", steps: "call", costUsd: "free" };
    const { price } = await (await this.#list()).facts(found);
    const costUsd = price === undefined ? "never" : "call";
    return { tokens: "call", steps: "call", costUsd, usesPrices: true };
  }

  /** Returns the provider of the key, never the key. */
  async account(): Promise<Account> {
    const found = findModel(await this.defaultModel(), this.#providers);
    const hasKey = found?.provider.apiKey !== undefined;
    const account = hasKey ? { type: "apiKey", label: found.provider.label } : null;
    return { account, requiresLogin: false };
  }

  /** Keys are configured, not logged in with. */
  async accountControl(): Promise<AccountControl> {
    return new ConfiguredKeys((await this.account()).account !== null);
  }

  /** The status of the MCP servers of all open sessions; of servers with the same name the latest. */
  async mcpServers(): Promise<readonly McpServerStatus[]> {
    const statuses = [...this.#servers].flatMap((servers) => servers.statuses());
    return [...new Map(statuses.map((status) => [status.name, status])).values()];
  }

  /** The provider that the user set up first; the offline model is Flint's own. */
  #defaultProvider(model: string): string {
    const isNamed = model !== this.id;
    const first = this.#providers.find(({ isConfigured, isExpected }) => isConfigured && isExpected);
    return isNamed ? this.id : (first?.id ?? this.id);
  }

  #list(): Promise<ModelListing> {
    this.#listing ??= import("@flint/agent/listing").then(
      ({ ModelListing }) => new ModelListing(this.#providers, this.#clock, this.#options.models),
    );
    return this.#listing;
  }

  /** A model whose provider is gone has only the selectors that every model has. */
  #selectors(model: string, listing: ModelListing): readonly Selector[] {
    const found = model === OFFLINE_ID ? undefined : findModel(model, this.#providers);
    if (found === undefined) return OFFLINE_SELECTORS;
    return selectorsOf(listing.factsNow(found));
  }

  async #sources(spec: SessionSpec): Promise<readonly ToolSource[]> {
    const { mcpServers, sandbox, settings } = spec;
    if (mcpServers.length === 0) return [];
    const { version } = this.#options;
    const { McpServers } = await import("@flint/agent/mcp");
    const servers = new McpServers(mcpServers, {
      sandbox,
      cwd: settings.cwd,
      policy: settings.sandboxPolicy,
      problem: async (server) => spec.mcpProblem?.(server),
      ...(version === undefined ? {} : { version }),
    });
    this.#servers.add(servers);
    const close = async () => {
      this.#servers.delete(servers);
      await servers.close();
    };
    return [{ tools: (signal) => servers.tools(signal), missing: () => servers.missing(), close }];
  }
}
