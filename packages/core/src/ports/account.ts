import type { AgentAccount } from "@flint/protocol";

/** The account that an agent works with. */
export interface Account {
  readonly account: Readonly<AgentAccount> | null;
  readonly requiresLogin: boolean;
}

/** The way in which a client logs in. Its further fields are the agent's own, and may hold a secret. */
export interface LoginRequest {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A login that was started. Without an id it has ended already. */
export interface StartedLogin {
  readonly type: string;
  readonly loginId?: string;
  /** The page on which the user logs in, in a browser. */
  readonly authUrl?: string;
  /** The same, where the user then enters `userCode`. */
  readonly verificationUrl?: string;
  readonly userCode?: string;
}

/** The outcome of a login. */
export interface EndedLogin {
  readonly loginId?: string;
  readonly success: boolean;
  readonly error?: string;
}

/** Receives changes of an agent's account. */
export interface AccountListener {
  loginEnded(login: EndedLogin): void;
  /** Another account is in use, or none. */
  accountChanged(): void;
}

/** Logs in to an agent and out of it, for all programs of the user. */
export interface AccountControl {
  /**
   * Starts a login, or does it. Rejects with a FlintError that has the command to run, if the agent logs in only in a
   * terminal.
   */
  startLogin(request: LoginRequest, listener: AccountListener): Promise<StartedLogin>;
  /** Cancels a login that was started. False if there is none with this id. */
  cancelLogin(loginId: string): Promise<boolean>;
  /** Logs out. Rejects with a FlintError that says how to, if the agent has no request for it. */
  logout(listener: AccountListener): Promise<void>;
}
