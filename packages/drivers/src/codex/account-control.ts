import type {
  AccountControl,
  AccountListener,
  Clock,
  EndedLogin,
  LoginRequest,
  Sandbox,
  StartedLogin,
} from "@flint/core/ports";
import { FlintError, mintId } from "@flint/protocol";
import { CODEX_ACCOUNT_REQUESTS, type CodexNotification, type CodexResult } from "@flint/protocol/codex";
import { UNSANDBOXED } from "./process/launch.ts";
import type { CodexServer } from "./process/server.ts";
import type { ServerPool, SharedServer } from "./process/server-pool.ts";

/** Codex itself gives a login in a browser ten minutes. */
const LONGEST_LOGIN_MS = 15 * 60_000;

/**
 * Logs in to Codex and out of it, with its own requests. It does so in the process without a sandbox: it stores the login
 * in the user's own folder, as `codex login` does, and waits for the browser on a port of this machine.
 */
export class CodexAccountControl implements AccountControl {
  readonly #servers: ServerPool;
  readonly #sandbox: () => Promise<Sandbox>;
  readonly #clock: Clock;
  readonly #logins = new Map<string, OpenLogin>();

  constructor(servers: ServerPool, sandbox: () => Promise<Sandbox>, clock: Clock) {
    this.#servers = servers;
    this.#sandbox = sandbox;
    this.#clock = clock;
  }

  async startLogin(request: LoginRequest, listener: AccountListener): Promise<StartedLogin> {
    const params = CODEX_ACCOUNT_REQUESTS["account/login/start"].params.safeParse(request);
    if (!params.success)
      throw new FlintError(
        "invalidParams",
        `Codex has no login of the type ${JSON.stringify(request.type)}.`,
      );
    if (params.data.type === "chatgptAuthTokens") throw onlyInMemory();
    const { server, shared, release } = await this.#acquire();
    const login = new OpenLogin(server, this.#clock, (ended) => {
      const renewed = ended.success ? this.#servers.renew(shared) : Promise.resolve();
      void renewed.finally(() => {
        release();
        listener.loginEnded(ended);
        if (ended.success) listener.accountChanged();
      });
    });
    try {
      const started = startedLogin(await server.request("account/login/start", params.data));
      if (started.loginId !== undefined) this.#remember(started.loginId, login);
      return started;
    } catch (thrown) {
      login.close();
      release();
      throw thrown;
    }
  }

  async cancelLogin(loginId: string): Promise<boolean> {
    return (await this.#logins.get(loginId)?.cancel()) === true;
  }

  async logout(listener: AccountListener): Promise<void> {
    const { server, shared, release } = await this.#acquire();
    try {
      await server.request("account/logout", {});
      await this.#servers.renew(shared);
      listener.accountChanged();
    } finally {
      release();
    }
  }

  #remember(loginId: string, login: OpenLogin): void {
    login.id = loginId;
    this.#logins.set(loginId, login);
    void login.closed.then(() => this.#logins.delete(loginId));
  }

  async #acquire(): Promise<{ server: CodexServer; shared: SharedServer; release: () => void }> {
    const sandbox = await this.#sandbox();
    const shared = this.#servers.forSandbox(UNSANDBOXED);
    const release = shared.acquire();
    try {
      return { server: await shared.server(sandbox), shared, release };
    } catch (thrown) {
      release();
      throw thrown;
    }
  }
}

/** A login that Codex waits for. It ends exactly once, unless it is closed before. */
class OpenLogin {
  /** Codex's id of it; undefined until it is known, and if the login needs no browser. */
  id: string | undefined;
  readonly closed: Promise<void>;
  readonly #server: CodexServer;
  readonly #onEnd: (ended: EndedLogin) => void;
  #close: () => void = () => {};
  #isOpen = true;

  constructor(server: CodexServer, clock: Clock, onEnd: (ended: EndedLogin) => void) {
    this.#server = server;
    this.#onEnd = onEnd;
    const stopListening = server.listen(`login ${mintId()}`, {
      notification: (notification) => this.#onNotification(notification),
      call: () => Promise.reject(new Error("A login has no turn.")),
      isBusy: () => true,
    });
    const stopTimer = clock.after(LONGEST_LOGIN_MS, () => this.#fail("The login was not completed in time."));
    void server.ended.then(() => this.#fail("Codex ended before the login did."));
    this.closed = new Promise((resolve) => {
      this.#close = () => {
        stopListening();
        stopTimer();
        resolve();
      };
    });
  }

  /** Has Codex cancel it. False if it has ended. */
  async cancel(): Promise<boolean> {
    const { id: loginId } = this;
    if (!this.#isOpen || loginId === undefined) return false;
    const { status } = await this.#server.request("account/login/cancel", { loginId });
    return status === "canceled";
  }

  /** Forgets it: it was not started. */
  close(): void {
    this.#isOpen = false;
    this.#close();
  }

  #onNotification({ method, params }: CodexNotification): void {
    if (method !== "account/login/completed" || (params.loginId ?? undefined) !== this.id) return;
    if (params.success) this.#end({ success: true });
    else this.#fail(params.error ?? "The login failed.");
  }

  #fail(error: string): void {
    this.#end({ success: false, error });
  }

  #end(ended: EndedLogin): void {
    if (!this.#isOpen) return;
    this.close();
    this.#onEnd(this.id === undefined ? ended : { ...ended, loginId: this.id });
  }
}

function startedLogin({
  type,
  loginId,
  authUrl,
  verificationUrl,
  userCode,
}: CodexResult<"account/login/start">): StartedLogin {
  return {
    type,
    ...(loginId == null ? {} : { loginId }),
    ...(authUrl == null ? {} : { authUrl }),
    ...(verificationUrl == null ? {} : { verificationUrl }),
    ...(userCode == null ? {} : { userCode }),
  };
}

function onlyInMemory(): FlintError {
  const message =
    "Codex keeps tokens that a client brings (chatgptAuthTokens) in the memory of one process, and Flint uses several. " +
    "Log in with apiKey, chatgpt or chatgptDeviceCode.";
  return new FlintError("invalidParams", message, { field: "type" });
}
