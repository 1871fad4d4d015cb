import { join } from "node:path";
import type { Clock } from "@flint/core/ports";
import type { Model } from "@flint/protocol";
import {
  argumentChoices,
  Completer,
  commandChoices,
  commandsOfAgent,
  Drafts,
  FileIndex,
  HistoryFile,
  HistoryWalk,
  keyLabel,
  promptsForSearch,
  promptsIn,
  Stash,
} from "../input/index.ts";
import { ArgumentNames } from "./commands/argument-names.ts";
import { commandContext } from "./commands/command-context.ts";
import type { Composer } from "./composer.ts";
import type { SessionContext } from "./context.ts";

/** Time for which a draft is in memory alone. */
const DRAFT_MS = 1_000;

/** Help with writing a prompt: completion, earlier prompts, and drafts that outlive the terminal. */
export class PromptHelp {
  readonly completer: Completer;
  /** Prompts that were put aside. */
  readonly stash: Stash;
  readonly #session: SessionContext;
  readonly #clock: Clock;
  #index: FileIndex | undefined;
  readonly #history: HistoryFile | undefined;
  readonly #drafts: Drafts | undefined;
  #walk: HistoryWalk | undefined;
  #cancelDraft: (() => void) | undefined;
  readonly #names: ArgumentNames;

  constructor(session: SessionContext, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
    const { notesFolder } = session.machine;
    this.#history =
      notesFolder === undefined ? undefined : new HistoryFile(join(notesFolder, "history.jsonl"));
    this.#drafts = notesFolder === undefined ? undefined : new Drafts(join(notesFolder, "drafts"));
    this.stash = new Stash(notesFolder === undefined ? undefined : join(notesFolder, "stash.jsonl"));
    this.#names = new ArgumentNames(session, () => {
      this.completer.refresh();
      session.changed();
    });
    this.completer = new Completer({
      findFiles: (query, signal) => this.#files.find(query, signal),
      commands: () => commandChoices(commandContext(session), commandsOfAgent(session.state)),
      argumentsOf: (command, typed) => argumentChoices(command, this.#names.choices, typed),
      begun: () => this.#names.forget(),
      used: (path) => this.#files.noteUse(path),
      changed: () => session.changed(),
    });
  }

  /** Shows the prompt before the one that is shown. False if there is none. */
  back(composer: Composer): boolean {
    this.#walk ??= new HistoryWalk(promptsIn(this.#history?.read() ?? [], this.#session.machine.cwd));
    return show(composer, this.#walk.back(composer.text));
  }

  /** Shows the prompt after the one that is shown. */
  forward(composer: Composer): boolean {
    return show(composer, this.#walk?.forward(composer.text));
  }

  /** Earlier prompts to search through, newest first. */
  earlier(): readonly string[] {
    return promptsForSearch(this.#history?.read() ?? [], this.#session.machine.cwd).toReversed();
  }

  /** The key that takes back what was put aside. */
  get stashKey(): string {
    const { keymap, look } = this.#session;
    const [chord] = keymap.keys.stashInput;
    return chord === undefined ? "The command for it" : keyLabel(chord, look.unicode);
  }

  /** Notes a prompt that was sent. */
  sent(text: string): void {
    this.#walk = undefined;
    this.#history?.add({ text, folder: this.#session.machine.cwd });
    this.#drafts?.write(this.#draftName, []);
  }

  /** Keeps what is being written soon, so that little of it is lost if the terminal is killed. */
  keepDraftSoon(composer: Composer): void {
    if (this.#drafts === undefined) return;
    this.#cancelDraft ??= this.#clock.after(DRAFT_MS, () => this.keepDraft(composer));
  }

  /** Keeps what is being written, for the next time this thread is opened. */
  keepDraft(composer: Composer): void {
    this.#cancelDraft?.();
    this.#cancelDraft = undefined;
    this.#drafts?.write(this.#draftName, composer.content);
  }

  /** Brings back what was being written in this thread, unless something else is. */
  bringDraft(composer: Composer): void {
    const draft = this.#drafts?.read(this.#draftName) ?? [];
    if (draft.length > 0 && composer.isEmpty) composer.setContent(draft);
  }

  /** The models whose names can be completed. */
  setModels(models: readonly Model[]): void {
    this.#names.models = models;
  }

  close(): void {
    this.#index?.close();
  }

  /** The files of the thread's folder; a thread that is opened later may have another one. */
  get #files(): FileIndex {
    const folder = this.#session.settings?.cwd ?? this.#session.machine.cwd;
    if (this.#index?.folder === folder) return this.#index;
    this.#index?.close();
    this.#index = new FileIndex(folder, this.#clock, () => {
      this.completer.refresh();
      this.#session.changed();
    });
    return this.#index;
  }

  get #draftName(): string {
    return this.#session.state?.thread.id ?? this.#session.machine.cwd;
  }
}

function show(composer: Composer, text: string | undefined): boolean {
  if (text !== undefined) composer.setText(text);
  return text !== undefined;
}
