import type { Clock, Sandbox } from "@flint/core/ports";
import { type ServerSandbox, sandboxKey, UNSANDBOXED } from "./launch.ts";
import { CodexServer, type CodexServerSpec } from "./server.ts";

/** Makes the spec of a process to start. */
export type ServerSpec = (sandbox: Sandbox, serverSandbox: ServerSandbox) => Promise<CodexServerSpec>;

/** Releases a shared process. Calling it more than once does no harm. */
export type Release = () => void;

/** The processes of Codex: one for all threads without a sandbox, and one for each thread in a sandbox. */
export class ServerPool {
  readonly #spec: ServerSpec;
  readonly #clock: Clock;
  readonly #keepAliveMs: number;
  readonly #servers = new Map<string, SharedServer>();
  #latest: ServerSandbox = UNSANDBOXED;

  constructor(spec: ServerSpec, clock: Clock, keepAliveMs: number) {
    this.#spec = spec;
    this.#clock = clock;
    this.#keepAliveMs = keepAliveMs;
  }

  /** The one for threads in this sandbox. Starts nothing. */
  forSandbox(serverSandbox: ServerSandbox): SharedServer {
    const key = sandboxKey(serverSandbox);
    const known = this.#servers.get(key);
    this.#latest = serverSandbox;
    if (known !== undefined) return known;
    const start = (sandbox: Sandbox) => this.#spec(sandbox, serverSandbox);
    const forget = () => this.#servers.delete(key);
    const shared = new SharedServer(start, this.#clock, this.#keepAliveMs, forget);
    this.#servers.set(key, shared);
    return shared;
  }

  /** One for requests that belong to no thread: one that runs, else the one that is needed next. */
  async any(): Promise<SharedServer> {
    for (const shared of this.#servers.values()) if ((await shared.running()) !== undefined) return shared;
    return this.forSandbox(this.#latest);
  }

  /** A process that runs now, if any. */
  async running(): Promise<CodexServer | undefined> {
    return (await this.any()).running();
  }

  /**
   * Has all processes but one replaced, because they know an older account. One that is busy is replaced when it is
   * needed again and nothing would be lost.
   */
  async renew(kept: SharedServer): Promise<void> {
    const others = [...this.#servers.values()].filter((shared) => shared !== kept);
    await Promise.all(others.map((shared) => shared.renew()));
  }

  /** Stops all of them. A thread that needs one starts it again. */
  async close(): Promise<void> {
    await Promise.all([...this.#servers.values()].map((shared) => shared.close()));
  }
}

/** One process that several threads share: started when it is needed, and stopped some time after the last release. */
export class SharedServer {
  readonly #spec: (sandbox: Sandbox) => Promise<CodexServerSpec>;
  readonly #clock: Clock;
  readonly #keepAliveMs: number;
  readonly #onUnused: () => void;
  #current: Promise<CodexServer> | undefined;
  #isOutdated = false;
  #users = 0;
  #cancelStop: () => void = () => {};

  /** `onUnused` is called when it is stopped because no session uses it. */
  constructor(
    spec: (sandbox: Sandbox) => Promise<CodexServerSpec>,
    clock: Clock,
    keepAliveMs: number,
    onUnused: () => void,
  ) {
    this.#spec = spec;
    this.#clock = clock;
    this.#keepAliveMs = keepAliveMs;
    this.#onUnused = onUnused;
  }

  /** Keeps the process, once there is one, from being stopped. */
  acquire(): Release {
    this.#users += 1;
    this.#cancelStop();
    let isAcquired = true;
    return () => {
      if (!isAcquired) return;
      isAcquired = false;
      this.#users -= 1;
      if (this.#users === 0)
        this.#cancelStop = this.#clock.after(this.#keepAliveMs, () => this.#stopUnused());
    };
  }

  /** The process, started if there is none. The caller has acquired it. */
  async server(sandbox: Sandbox): Promise<CodexServer> {
    if (this.#isOutdated) await this.renew();
    this.#current ??= this.#start(sandbox);
    return this.#current;
  }

  /** Stops the process as soon as that loses nothing, so that another takes its place. */
  async renew(): Promise<void> {
    const server = await this.running();
    this.#isOutdated = server?.isBusy === true;
    if (!this.#isOutdated) await this.close();
  }

  /** The process that runs now, if any. */
  async running(): Promise<CodexServer | undefined> {
    const server = await this.#current?.catch(() => undefined);
    return server?.isRunning === true ? server : undefined;
  }

  /** Stops the process. The next one who needs it starts another. */
  async close(): Promise<void> {
    const current = this.#current;
    this.#current = undefined;
    const server = await current?.catch(() => undefined);
    await server?.close();
  }

  #stopUnused(): void {
    this.#onUnused();
    void this.close();
  }

  #start(sandbox: Sandbox): Promise<CodexServer> {
    const starting = this.#spec(sandbox).then((spec) => CodexServer.start(spec));
    const forget = () => {
      if (this.#current === starting) this.#current = undefined;
    };
    starting.then((server) => server.ended.then(forget), forget);
    return starting;
  }
}
