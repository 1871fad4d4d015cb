import { createHmac } from "node:crypto";
import { errorMessage, type TaskState } from "@flint/protocol";
import type { VerifyTask } from "../service/verify-task.ts";
import type { TaskStore } from "../store/task-store.ts";
import { type Notice, noticeOf } from "./notice.ts";

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
}

const WEBHOOK_TRIES = 3;
const WEBHOOK_MS = 10_000;
const PAUSE_MS = 1_000;

/** Tells people about tasks that wait for them or have ended. A notice that cannot be delivered holds up nothing. */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #phases = new Map<string, TaskState["phase"]>();
  readonly #stopping = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #unsubscribe: () => void;

  private constructor(options: NotifierOptions, known: readonly TaskState[]) {
    this.#options = options;
    for (const { id, phase } of known) this.#phases.set(id, phase);
    this.#unsubscribe = options.store.subscribe(({ state }) => this.#onChange(state));
  }

  /** Starts with the current tasks, without notifying about them again. */
  static async start(options: NotifierOptions): Promise<Notifier> {
    return new Notifier(options, await options.store.list());
  }

  /** Gives up what could not be delivered yet. */
  async stop(): Promise<void> {
    this.#unsubscribe();
    this.#stopping.abort();
    await Promise.all(this.#sending);
  }

  #onChange(state: TaskState): void {
    const notice = noticeOf(this.#phases.get(state.id), state);
    this.#phases.set(state.id, state.phase);
    if (notice === undefined) return;
    const sending = this.#sendVerified(notice, state).finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  async #sendVerified(notice: Notice, state: TaskState): Promise<void> {
    // Expected: the database is away.
    try {
      if ((await this.#options.verify?.(state)) === undefined) await this.#send(notice);
    } catch (thrown) {
      this.#options.onProblem(`There was no notice about task ${state.number}: ${errorMessage(thrown)}`);
    }
  }

  async #send(notice: Notice): Promise<void> {
    const { desktop, command, webhook } = this.#options;
    await Promise.all([
      ...(desktop === true ? [this.#run(desktopCommand(notice), notice)] : []),
      ...(command === undefined ? [] : [this.#run(command, notice)]),
      ...(webhook === undefined ? [] : [this.#post(webhook, notice)]),
    ]);
  }

  async #run(command: readonly string[], notice: Notice): Promise<void> {
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

  async #post(webhook: NonNullable<NoticeOptions["webhook"]>, notice: Notice): Promise<void> {
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
    this.#options.onProblem(
      `The webhook did not get the notice about task ${notice.task.number}: ${problem}`,
    );
  }
}

/** The signature of a body: a receiver that knows the secret computes the same one. */
function signatureOf(body: string, secret: string | undefined): Record<string, string> {
  if (secret === undefined) return {};
  return { "x-flint-signature": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` };
}

function desktopCommand({ text }: Notice): string[] {
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
