import {
  asOption,
  CONTEXT_LENGTH,
  chosen,
  DEFAULT_NATIVE_OPTIONS,
  KEEP_ALIVE_CLOCK,
  type NativeOptions,
  OFFLINE_ID,
  OFFLINE_SELECTORS,
  type Provider,
  providedModel,
  providersOf,
  REASONING_EFFORT,
  requireSetUp,
  runsHere,
  type Selector,
  selectorsOf,
  TEMPERATURE,
} from "@flint/agent";
import type { Listing } from "@flint/agent/listing";
import type { ToolSource } from "@flint/agent/loop";
import type { Account, Clock, Driver, DriverSession, McpServerStatus, SessionSpec } from "@flint/core/ports";
import type { ConfigOption, ConfigValues, Model as ModelRow, ThreadSettings } from "@flint/protocol";

/** Tools of MCP servers, and how those servers are. */
interface ServerTools extends ToolSource {
  statuses(): readonly McpServerStatus[];
}

/** Flint's own agent: a tool loop around a model, in this process. Asks no provider anything before it must. */
export class NativeDriver implements Driver {
  readonly id = "flint";
  readonly asksFirst = true;
  readonly asksToWrite = true;
  readonly #options: NativeOptions;
  readonly #providers: readonly Provider[];
  readonly #clock: Clock;
  readonly #servers = new Set<ServerTools>();
  #listing: Promise<Listing> | undefined;

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
    const found = providedModel(name, this.#providers);
    if (found !== undefined) requireSetUp(found);
    return found?.id;
  }

  async options(model: string, values: ConfigValues): Promise<readonly ConfigOption[]> {
    const listing = await this.#list();
    const found = providedModel(model, this.#providers);
    // What the model's own server says about it is known from here on.
    if (found?.provider.isConfigured === true) await listing.facts(found);
    const selectors = this.#selectors(model, listing);
    return selectors.map((selector) => asOption(selector, model, values));
  }

  /** The loop and its model are loaded with the first session, not with the server. */
  async open(spec: SessionSpec): Promise<DriverSession> {
    const [{ NativeSession }, { ModelShelf }, listing] = await Promise.all([
      import("./session.ts"),
      import("@flint/agent/model-cache"),
      this.#list(),
    ]);
    const { web, offlineScript } = this.#options;
    const offline = async () =>
      new (await import("@flint/offline-model")).OfflineModel({ script: offlineScript });
    const shelf = new ModelShelf(this.#providers, listing, this.#clock, offline);
    const value = ({ model, config }: ThreadSettings, id: string): string | undefined => {
      const selector = this.#selectors(model, listing).find((known) => known.id === id);
      return selector === undefined ? undefined : chosen(selector, config);
    };
    return new NativeSession(spec, {
      modelOf: ({ model }) => shelf.model(model),
      temperatureOf: (settings) => Number(value(settings, TEMPERATURE) ?? 0),
      contextLengthOf: (settings) => Number(value(settings, CONTEXT_LENGTH)),
      reasoningEffortOf: (settings) => value(settings, REASONING_EFFORT),
      web,
      sources: await this.#sources(spec),
    });
  }

  /** Never tells the key, only whose it is. */
  async account(): Promise<Account> {
    const found = providedModel(await this.defaultModel(), this.#providers);
    const hasKey = found?.provider.apiKey !== undefined;
    const account = hasKey ? { type: "apiKey", label: found.provider.label } : null;
    return { account, requiresLogin: false };
  }

  /** How the MCP servers of the open sessions are; of one name the latest counts. */
  async mcpServers(): Promise<readonly McpServerStatus[]> {
    const statuses = [...this.#servers].flatMap((servers) => servers.statuses());
    return [...new Map(statuses.map((status) => [status.name, status])).values()];
  }

  #list(): Promise<Listing> {
    this.#listing ??= import("@flint/agent/listing").then(
      ({ Listing }) => new Listing(this.#providers, this.#clock),
    );
    return this.#listing;
  }

  /** A model whose provider is gone has the least that every model has. */
  #selectors(model: string, listing: Listing): readonly Selector[] {
    const found = model === OFFLINE_ID ? undefined : providedModel(model, this.#providers);
    if (found === undefined) return OFFLINE_SELECTORS;
    return selectorsOf(listing.factsNow(found), runsHere(found.provider));
  }

  async #sources({ mcpServers, sandbox, settings }: SessionSpec): Promise<readonly ToolSource[]> {
    if (mcpServers.length === 0) return [];
    const { version } = this.#options;
    const { McpServers } = await import("@flint/agent/mcp");
    const servers = new McpServers(mcpServers, {
      sandbox,
      cwd: settings.cwd,
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
