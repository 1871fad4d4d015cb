import type { ThreadSettings, ThreadState } from "@flint/protocol";
import type { FlintClient, ThreadHandle } from "@flint/sdk";
import type { NewThreadSettings } from "../context.ts";
import { AllTurns } from "./all-turns.ts";

/** The thread of a session: none before the first prompt, which starts one with the settings chosen until then. */
export class OpenThread {
  readonly #client: () => FlintClient;
  #handle: ThreadHandle | undefined;
  #turns: AllTurns;
  /** The thread that is being attached to. Its first events arrive before the answer. */
  #attaching: string | undefined;
  /** The settings that a new thread gets, and what the server adds to them. */
  #pending: NewThreadSettings;
  #defaults: ThreadSettings | undefined;
  #starting: Promise<string> | undefined;

  constructor(client: () => FlintClient, settings: NewThreadSettings) {
    this.#client = client;
    this.#turns = new AllTurns(client);
    this.#pending = settings;
  }

  /** Its id; undefined before the first prompt. */
  get id(): string | undefined {
    return this.#handle?.id;
  }

  /** Reports whether an event of a thread belongs here. */
  owns(threadId: string | undefined): boolean {
    return threadId !== undefined && (threadId === this.id || threadId === this.#attaching);
  }

  get state(): ThreadState | undefined {
    return this.#handle?.state;
  }

  get turns(): AllTurns {
    return this.#turns;
  }

  /** The settings in force, or those that a new thread will have. */
  get settings(): ThreadSettings | undefined {
    return this.state?.settings ?? this.#defaults;
  }

  /** The id of the thread; starts one if there is none. Two prompts that are sent at once belong to one thread. */
  async ensure(): Promise<string> {
    if (this.#handle !== undefined) return this.#handle.id;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Changes settings: of the thread, or of the one that the next prompt starts. */
  async change(settings: Partial<NewThreadSettings>): Promise<void> {
    const threadId = this.id;
    if (threadId !== undefined) {
      await this.#client().call("thread/settings/update", { ...settings, threadId });
      return;
    }
    this.#pending = { ...this.#pending, ...settings };
    await this.readDefaults();
  }

  /** Sets a selector of the agent, in the same way. */
  async setControl(id: string, value: string): Promise<void> {
    const threadId = this.id;
    if (threadId !== undefined) await this.#client().configSet(id, value, threadId);
    else await this.change({ config: { ...this.#pending.config, [id]: value } });
  }

  /** Switches to another thread, or to a new one. The turn of this one continues; its events are no longer received. */
  async switchTo(threadId: string | undefined): Promise<void> {
    const next = threadId === undefined ? undefined : await this.#attach(threadId);
    if (next === undefined) await this.readDefaults();
    await this.#handle?.unsubscribe();
    this.#use(next);
  }

  /** Attaches again after the connection was lost. Gives how many events were missed. */
  async attachAgain(): Promise<number> {
    const before = this.#handle;
    if (before === undefined) return 0;
    before.release();
    const handle = await this.#client().attachThread(before.id);
    this.#use(handle);
    return handle.state.seq - before.state.seq;
  }

  /** Leaves a thread that cannot be attached to any more. */
  drop(): void {
    this.#handle?.release();
    this.#use(undefined);
  }

  /** Interrupts the running turn. */
  async interrupt(): Promise<void> {
    await this.#handle?.interrupt();
  }

  /** Reads what a thread without further settings would have. */
  async readDefaults(): Promise<void> {
    const read = await this.#client().configRead();
    const { model = read.model, cwd = read.cwd, approvalPolicy = read.approvalPolicy } = this.#pending;
    const { sandbox, network, git, acceptEdits, budget, config = {} } = this.#pending;
    this.#defaults = {
      ...{ model, cwd, approvalPolicy, config },
      sandboxPolicy: typeof sandbox === "object" ? sandbox : read.sandboxPolicy,
      ...(network === undefined ? {} : { network }),
      ...(git === undefined ? {} : { git }),
      ...(acceptEdits === undefined ? {} : { acceptEdits }),
      ...(budget === undefined ? {} : { budget }),
    };
  }

  async #attach(threadId: string): Promise<ThreadHandle> {
    this.#attaching = threadId;
    try {
      return await this.#client().attachThread(threadId);
    } finally {
      if (this.#attaching === threadId) this.#attaching = undefined;
    }
  }

  async #start(): Promise<string> {
    const handle = await this.#client().startThread(this.#pending);
    this.#use(handle);
    return handle.id;
  }

  #use(handle: ThreadHandle | undefined): void {
    this.#handle = handle;
    this.#turns = new AllTurns(this.#client, handle);
  }
}
