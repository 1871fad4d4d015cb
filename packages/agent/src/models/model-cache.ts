import type { Clock } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { ModelListing } from "./listing.ts";
import type { Model } from "./model.ts";
import { findModel, OFFLINE_ID, type Provider, type ProviderModel, requireConfigured } from "./providers.ts";

/** The models of one session, each made when it is first wanted, since some remember what they were asked. */
export class ModelCache {
  readonly #providers: readonly Provider[];
  readonly #listing: ModelListing;
  readonly #clock: Clock;
  readonly #offline: () => Promise<Model>;
  readonly #models = new Map<string, Promise<Model>>();

  /** `offline` makes the offline model. */
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

  /** The model of this id. Rejects with a FlintError that says how to get one. */
  model(id: string): Promise<Model> {
    const known = this.#models.get(id);
    if (known !== undefined) return known;
    const made = this.#make(id);
    this.#models.set(id, made);
    // One that could not be made may be possible next time.
    made.catch(() => this.#models.delete(id));
    return made;
  }

  async #make(id: string): Promise<Model> {
    if (id === OFFLINE_ID) return this.#offline();
    const found = await this.#listing.resolved(usable(id, this.#providers));
    const { connectModel } = await import("./connect.ts");
    return connectModel(found, await this.#listing.facts(found), { clock: this.#clock });
  }
}

function usable(id: string, providers: readonly Provider[]): ProviderModel {
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
