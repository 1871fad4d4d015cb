import type { AccountControl, StartedLogin } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";

const WAY =
  "Flint's own agent has no account: it takes keys from OPENAI_API_KEY, ANTHROPIC_API_KEY or the variable named by " +
  "api_key_env of a [providers.NAME] in the configuration.";

/** The keys of Flint's own agent come from the environment, so a client can neither bring nor remove one. */
export class ConfiguredKeys implements AccountControl {
  readonly #hasKey: boolean;

  constructor(hasKey: boolean) {
    this.#hasKey = hasKey;
  }

  startLogin(): Promise<StartedLogin> {
    return Promise.reject(new FlintError("invalidRequest", `${WAY} Set one and restart Flint.`));
  }

  async cancelLogin(): Promise<boolean> {
    return false;
  }

  logout(): Promise<void> {
    if (!this.#hasKey) return Promise.resolve();
    return Promise.reject(new FlintError("invalidRequest", `${WAY} To log out, unset it and restart Flint.`));
  }
}
