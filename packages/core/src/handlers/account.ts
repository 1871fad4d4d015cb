import { type EventBody, FlintError, type ThreadEvent } from "@flint/protocol";
import type { AccountControl, AccountListener, Driver, EndedLogin, LoginRequest } from "../ports/index.ts";
import type { Services } from "../services.ts";
import { driverOf, namesOf, settingsOf } from "./config.ts";
import type { GlobalHandlers } from "./handler.ts";

/** The accounts of agents: who is logged in, their limits, and how to log in and out. */
export const accountHandlers: Pick<
  GlobalHandlers,
  "account/read" | "account/login/start" | "account/login/cancel" | "account/logout" | "account/limits/read"
> = {
  async "account/read"({ threadId }, { services }) {
    const driver = await driverOf(services, threadId);
    const account = (await driver.account?.()) ?? { account: null, requiresLogin: false };
    const { model } = await settingsOf(services, threadId);
    const provider = driver.provider?.(model) ?? driver.id;
    return { result: { ...account, provider, ...namesOf(driver) } };
  },

  async "account/limits/read"({ agent }, { services: { options, usageLimits } }) {
    const asked = options.drivers.filter(({ id }) => agent === undefined || id === agent);
    // Expected: an agent that does not answer. What is known of its limits is still true.
    await Promise.allSettled(
      asked.map(async (driver) => usageLimits.report(driver.id, (await driver.limits?.()) ?? [])),
    );
    return { result: { data: [...usageLimits.known(agent)] } };
  },

  async "account/login/start"({ agent, ...request }, { services }) {
    const driver = await namedDriver(services, agent);
    services.redactor.learn(secretsOf(request));
    const events = new AccountEvents(services, driver);
    const started = await (await controlOf(driver)).startLogin(request, events);
    return { result: { ...started }, after: events.release };
  },

  async "account/login/cancel"({ agent, loginId }, { services }) {
    const control = await (await namedDriver(services, agent)).accountControl?.();
    const isCancelled = (await control?.cancelLogin(loginId)) === true;
    return { result: { status: isCancelled ? "canceled" : "notFound" } };
  },

  async "account/logout"({ agent }, { services }) {
    const driver = await namedDriver(services, agent);
    const events = new AccountEvents(services, driver);
    const control = await driver.accountControl?.();
    await (control ?? (await unlessLoggedIn(driver)))?.logout(events);
    return { result: {}, after: events.release };
  },
};

async function namedDriver(services: Services, agent: string | undefined): Promise<Driver> {
  if (agent === undefined) return driverOf(services, undefined);
  services.catalogue.requireAgent(agent);
  return services.catalogue.driverOf(agent);
}

async function controlOf(driver: Driver): Promise<AccountControl> {
  const control = await driver.accountControl?.();
  if (control !== undefined) return control;
  const { id, displayName = id } = driver;
  throw new FlintError("invalidRequest", `${displayName} has no account to log in to or out of.`);
}

/** Nothing is left to do without an account; with one that the agent cannot leave, that is an error. */
async function unlessLoggedIn(driver: Driver): Promise<AccountControl | undefined> {
  const known = await driver.account?.();
  return known?.account == null ? undefined : controlOf(driver);
}

/** Returns the values of a login that may be a key or a token. */
function secretsOf(request: LoginRequest): string[] {
  const secret = Object.entries(request).filter(([name]) => /key|token|secret/i.test(name));
  return secret.map(([, value]) => value).filter((value) => typeof value === "string");
}

/** Sends changes of an agent's account to all clients, but not before the request about it is answered. */
class AccountEvents implements AccountListener {
  readonly #services: Services;
  readonly #driver: Driver;
  #held: ThreadEvent[] | undefined = [];

  constructor(services: Services, driver: Driver) {
    this.#services = services;
    this.#driver = driver;
  }

  /** To be called when the request is answered. */
  readonly release = (): void => {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#services.announcements.publish(event);
  };

  loginEnded({ loginId, success, error }: EndedLogin): void {
    const { redactor } = this.#services;
    const id = loginId === undefined ? {} : { loginId };
    const problem = error === undefined ? {} : { error: redactor.text(error) };
    const data = { agent: this.#driver.id, success, ...id, ...problem };
    this.#publish({ type: "account/login/completed", data });
  }

  async accountChanged(): Promise<void> {
    // Expected: an agent that does not answer. Then no account of it is known.
    const read = await this.#driver.account?.().catch(() => undefined);
    const data = { ...namesOf(this.#driver), account: read?.account ?? null };
    this.#publish({ type: "account/updated", data });
  }

  #publish(body: EventBody): void {
    const { announcements, options } = this.#services;
    const event = { ...body, at: options.clock.now() };
    if (this.#held === undefined) announcements.publish(event);
    else this.#held.push(event);
  }
}
