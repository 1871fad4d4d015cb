import type { Clock } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { ModelListing } from "./listing.ts";
import type { Model } from "./model.ts";
import { findModel, OFFLINE_ID, type Provider, type ProviderModel, requireConfigured } from "./providers.ts";

/** The models of one session, each created on first use, since some keep state. */
export class ModelCache {
  readonly #providers: readonly Provider[];
  readonly #listing: ModelListing;
  readonly #clock: Clock;
  readonly #offline: () => Promise<Model>;
  readonly #models = new Map<string, Promise<Model>>();

  /** `offline` creates the offline model. */
  constructor(
    providers: readonly Provider[],
    listing: ModelListing,
    clock: Clock,
    offline: () => Promise<Model>,
  ) {
    this.#providers = providers;
    this.#listing = listing;
    this.#clock = clock;
    this.#offline = offline;
  }

  /** Returns the model of this id. Rejects with a FlintError that explains how to get one. */
  model(id: string): Promise<Model> {
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    const created = this.#create(id);
    this.#models.set(id, created);
    // Creating it may work the next time.
    created.catch(() => this.#models.delete(id));
    return created;
  }

  async #create(id: string): Promise<Model> {
    if (id === OFFLINE_ID) return this.#offline();
    const found = await this.#listing.resolved(configuredModel(id, this.#providers));
    const { connectModel } = await import("./connect.ts");
    return connectModel(found, await this.#listing.facts(found), { clock: this.#clock });
  }
}

function configuredModel(id: string, providers: readonly Provider[]): ProviderModel {
  const found = findModel(id, providers);
  if (found !== undefined) {
    requireConfigured(found);
    return found;
  }
  const known = providers
    .filter(({ isConfigured }) => isConfigured)
    .map((provider) => `flint/${provider.id}/…`);
  const message = `Flint's own agent has no model ${JSON.stringify(id)}. Choose ${[OFFLINE_ID, ...known].join(" or ")}.`;
  throw new FlintError("invalidParams", message, { field: "model" });
}
