import { createHmac } from "node:crypto";
import { errorMessage, type TaskState } from "@flint/protocol";
import type { VerifyTask } from "../service/verify-task.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type Digest, messageOf, type Notice, noticeOf } from "./notice.ts";

/** Destinations of notices. */
export interface NoticeOptions {
  /** Shows a notice of the desktop. */
  readonly desktop?: boolean | undefined;
  /** A program and its arguments; it gets the notice in its environment. */
  readonly command?: readonly string[] | undefined;
  readonly webhook?: { readonly url: string; readonly secret: string | undefined } | undefined;
}

/** The dependencies of a notifier. */
export interface NotifierOptions extends NoticeOptions {
  readonly store: TaskStore;
  /** Verifies that a task is as it was added; there are no notices about others. */
  readonly verify?: VerifyTask | undefined;
  /** Starts a program of the user, and resolves with its exit code. */
  run(command: readonly string[], environment: Readonly<Record<string, string>>): Promise<number>;
  onProblem(message: string): void;
  /** Runs an action once after a delay; the returned function cancels it. */
  after(milliseconds: number, action: () => void): () => void;
}

/** Notices within this time become one message. */
export const GATHER_MS = 5_000;
/** Time for which a server that stops waits for its last message. */
const STOP_MS = 2_000;

const WEBHOOK_TRIES = 3;
const WEBHOOK_MS = 10_000;
const PAUSE_MS = 1_000;

/**
 * Tells people about tasks that wait for them or have ended: one message for all that happens within a few seconds. A notice
 * that cannot be delivered holds up nothing.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #phases = new Map<string, TaskState["phase"]>();
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #unsubscribe: () => void;
  /** The notices that were not sent yet, by task. */
  readonly #gathered = new Map<string, { readonly notice: Notice; readonly state: TaskState }>();
  #cancel: (() => void) | undefined;

  private constructor(options: NotifierOptions, known: readonly TaskState[]) {
    this.#options = options;
    for (const { id, phase } of known) this.#phases.set(id, phase);
    this.#unsubscribe = options.store.subscribe(({ state }) => this.#onChange(state));
  }

  /** Starts with the current tasks, without notifying about them again. */
  static async start(options: NotifierOptions): Promise<Notifier> {
    return new Notifier(options, await options.store.list());
  }

  /** Sends what is gathered, and gives up what could not be delivered yet. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    if (this.#gathered.size > 0) {
      this.#flush();
      await Promise.race([Promise.all(this.#sending), pause(STOP_MS, this.#stopping.signal)]);
    }
    this.#cancel?.();
    this.#stopping.abort();
    await Promise.all(this.#sending);
  }

  #onChange(state: TaskState): void {
    const before = this.#phases.get(state.id);
    const notice = noticeOf(before, state);
    this.#phases.set(state.id, state.phase);
    // What it waited for has been seen to meanwhile.
    if (state.phase !== before) this.#gathered.delete(state.id);
    const { desktop, command, webhook } = this.#options;
    const isHeard = desktop === true || command !== undefined || webhook !== undefined;
    if (notice === undefined || !isHeard) return;
    this.#gathered.set(state.id, { notice, state });
    this.#cancel ??= this.#options.after(GATHER_MS, () => this.#flush());
  }

  #flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    const gathered = [...this.#gathered.values()];
    this.#gathered.clear();
    const sending = this.#sendVerified(gathered).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  async #sendVerified(gathered: Iterable<{ notice: Notice; state: TaskState }>): Promise<void> {
    const notices: Notice[] = [];
    for (const { notice, state } of gathered) {
      // Expected: the database is away.
      try {
        if ((await this.#options.verify?.(state)) === undefined) notices.push(notice);
      } catch (thrown) {
        this.#options.onProblem(`There was no notice about task ${state.number}: ${errorMessage(thrown)}`);
      }
    }
    const message = messageOf(notices);
    if (message !== undefined) await this.#send(message);
  }

  async #send(notice: Notice | Digest): Promise<void> {
    const { desktop, command, webhook } = this.#options;
    await Promise.all([
      ...(desktop === true ? [this.#run(desktopCommand(notice), notice)] : []),
      ...(command === undefined ? [] : [this.#run(command, notice)]),
      ...(webhook === undefined ? [] : [this.#post(webhook, notice)]),
    ]);
  }

  async #run(command: readonly string[], notice: Notice | Digest): Promise<void> {
    const environment = {
      FLINT_NOTICE: notice.kind,
      FLINT_NOTICE_TEXT: notice.text,
      FLINT_NOTICE_JSON: JSON.stringify(notice),
    };
    // Expected: the program does not exist.
    try {
      const code = await this.#options.run(command, environment);
      if (code !== 0) this.#options.onProblem(`The notice program ${command[0]} exited with ${code}.`);
    } catch (thrown) {
      this.#options.onProblem(`The notice program ${command[0]} cannot be run: ${errorMessage(thrown)}`);
    }
  }

  async #post(webhook: NonNullable<NoticeOptions["webhook"]>, notice: Notice | Digest): Promise<void> {
    const body = JSON.stringify(notice);
    const headers = { "content-type": "application/json", ...signatureOf(body, webhook.secret) };
    let problem = "";
    for (let attempt = 0; attempt < WEBHOOK_TRIES && !this.#stopping.signal.aborted; attempt += 1) {
      if (attempt > 0) await pause(PAUSE_MS * attempt, this.#stopping.signal);
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(WEBHOOK_MS)]);
      // Expected: no program listens, or it is too slow.
      try {
        // The user named this address, and no other one that it leads to.
        const request = { method: "POST", headers, body, signal, redirect: "manual" } as const;
        const { ok, status } = await fetch(webhook.url, request);
        if (ok) return;
        problem = `it answered ${status}`;
      } catch (thrown) {
        problem = errorMessage(thrown);
      }
    }
    const about = notice.kind === "digest" ? `${notice.count} tasks` : `task ${notice.task.number}`;
    this.#options.onProblem(`The webhook did not get the notice about ${about}: ${problem}`);
  }
}

/** The signature of a body: a receiver that knows the secret computes the same one. */
function signatureOf(body: string, secret: string | undefined): Record<string, string> {
  if (secret === undefined) return {};
  return { "x-flint-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` };
}

function desktopCommand({ text }: Notice | Digest): string[] {
  return process.platform === "darwin"
    ? [
        "osascript",
        "-e",
        "on run argv",
        "-e",
        'display notification (item 1 of argv) with title "Flint"',
        "-e",
        "end run",
        text,
      ]
    : ["notify-send", "--app-name=flint", "Flint", text];
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
