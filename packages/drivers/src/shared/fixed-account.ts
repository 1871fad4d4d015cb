import type { AccountControl, AccountListener, StartedLogin } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { AgentDescriptor } from "./agent.ts";

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

/** The account of an agent that logs in and out only in a terminal. Says with which command. */
export class TerminalAccount implements AccountControl {
  readonly #agent: Pick<AgentDescriptor, "displayName" | "login">;

  constructor(agent: Pick<AgentDescriptor, "displayName" | "login">) {
    this.#agent = agent;
  }

  startLogin(): Promise<StartedLogin> {
    return Promise.reject(this.#error("log in", this.#agent.login?.hint));
  }

  async cancelLogin(): Promise<boolean> {
    return false;
  }

  logout(_listener: AccountListener): Promise<void> {
    return Promise.reject(this.#error("log out", this.#agent.login?.logout));
  }

  #error(what: string, how: string | undefined): FlintError {
    const { displayName } = this.#agent;
    const way = how === undefined ? "see its documentation" : `run ${how}`;
    return new FlintError("invalidRequest", `${displayName} can ${what} only in a terminal: ${way}.`);
  }
}
