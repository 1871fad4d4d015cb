import type { AccountControl, AccountListener, StartedLogin } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { AgentDescriptor } from "./agent.ts";

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
