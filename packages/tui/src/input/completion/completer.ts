import { Picker, type PickerItem, type PickerWindow } from "../picker/picker.ts";
import { mentionOf, type Trigger, triggerAt } from "./trigger.ts";

/** A completion: what replaces the typed text. */
export interface Completion {
  readonly text: string;
  /** True if it continues, such as a folder whose files can follow. */
  readonly isPartial: boolean;
}

/** A file or folder that was found. */
export interface FoundFile {
  /** Relative to the workspace, with slashes. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** A completion of a name. */
export interface NameChoice {
  readonly name: string;
  readonly detail?: string | undefined;
  readonly group?: string | undefined;
  /** The text that is inserted, if it is not the name. */
  readonly insert?: string | undefined;
}

/** The sources of completions. */
export interface CompletionSources {
  /** The best files for some letters, best first. May reject when it is aborted. */
  findFiles(query: string, signal: AbortSignal): Promise<readonly FoundFile[]>;
  /** The commands that can be typed, those of Flint and those of the agent. */
  commands(): readonly NameChoice[];
  /** The values of a command's argument, given what is typed of it; `files` if they are files. */
  argumentsOf(command: string, typed: string): readonly NameChoice[] | "files";
  /** Called when the argument of another command begins: what was known of its values may be old. */
  begun?(): void;
  /** Called with a file that was chosen. */
  used?(path: string): void;
  /** Called when completions have arrived, to draw again. */
  changed(): void;
}

/** The parts of an editor that the completer uses. */
export interface CompletedEditor {
  readonly beforeCursor: string;
  readonly afterCursor: string;
  readonly cursorLine: number;
  replaceAround(before: number, after: number, text: string): void;
}

/**
 * The list of completions below the composer. Call `update` after every change of the text or the cursor. While it is open,
 * the keys of menus belong to it.
 */
export class Completer {
  readonly #sources: CompletionSources;
  #picker: Picker<Completion> | undefined;
  #trigger: Trigger | undefined;
  /** The text that the list was made for. */
  #listed: Trigger | undefined;
  /** The list that was dismissed: it stays closed until something else is completed. */
  #dismissed: string | undefined;
  #search: AbortController | undefined;

  constructor(sources: CompletionSources) {
    this.#sources = sources;
  }

  /** Reports whether there is something to choose. */
  get isOpen(): boolean {
    return this.#picker !== undefined && this.#picker.count > 0;
  }

  /** The kind of what is completed; undefined if the list is closed. */
  get kind(): Trigger["kind"] | undefined {
    return this.isOpen ? this.#trigger?.kind : undefined;
  }

  /** The rows to draw, of at most this many. */
  window(rows: number): PickerWindow<Completion> {
    return this.#picker?.window(rows) ?? { rows: [], above: 0, below: 0 };
  }

  /** Moves the selection. */
  move(by: number): void {
    this.#picker?.move(by);
  }

  /** Looks at what is being written. */
  update({ cursorLine, beforeCursor, afterCursor }: CompletedEditor): void {
    const trigger = triggerAt(cursorLine, beforeCursor, afterCursor);
    const key = trigger === undefined ? undefined : keyOf(trigger, cursorLine, beforeCursor);
    if (key !== this.#dismissed) this.#dismissed = undefined;
    const isSame = sameTrigger(trigger, this.#trigger);
    if (trigger?.command !== this.#trigger?.command) this.#sources.begun?.();
    this.#trigger = trigger;
    if (trigger === undefined || this.#dismissed !== undefined) this.#close();
    else if (!isSame || this.#picker === undefined) this.#open(trigger);
  }

  /** Searches again, because there is more to choose from by now. */
  refresh(): void {
    if (this.#trigger !== undefined && this.#picker !== undefined) this.#open(this.#trigger);
  }

  /** Closes the list until something else is completed. */
  dismiss({ cursorLine, beforeCursor }: CompletedEditor): void {
    if (this.#trigger !== undefined) this.#dismissed = keyOf(this.#trigger, cursorLine, beforeCursor);
    this.#close();
  }

  /** Inserts the selected completion. False if there is none, or the list is still that of an earlier text. */
  accept(editor: CompletedEditor): boolean {
    const { value: chosen, label = "" } = this.#picker?.selected ?? {};
    const trigger = this.#trigger;
    if (chosen === undefined || trigger === undefined || !sameTrigger(trigger, this.#listed)) return false;
    if (trigger.kind === "file" && !chosen.isPartial) this.#sources.used?.(label);
    editor.replaceAround(trigger.before, trigger.after, chosen.text + (chosen.isPartial ? "" : " "));
    this.#close();
    this.#trigger = undefined;
    if (chosen.isPartial) this.update(editor);
    return true;
  }

  #close(): void {
    this.#search?.abort();
    this.#search = undefined;
    this.#picker = undefined;
  }

  #open(trigger: Trigger): void {
    const names =
      trigger.kind === "argument"
        ? this.#sources.argumentsOf(trigger.command ?? "", trigger.query)
        : undefined;
    if (trigger.kind === "file" || names === "files") this.#openFiles(trigger);
    else if (names !== undefined) this.#show(itemsOf(names, ""), trigger.query);
    else this.#show(itemsOf(this.#sources.commands(), "/"), trigger.query);
  }

  /** A list of files stays as it is until others are found, so that it does not flicker. */
  #openFiles({ kind, query, command }: Trigger): void {
    if (this.#listed?.kind !== kind || this.#listed.command !== command) this.#picker = undefined;
    this.#search?.abort();
    const search = new AbortController();
    this.#search = search;
    const found = (files: readonly FoundFile[]) => {
      if (search.signal.aborted) return;
      // They are in their best order already.
      this.#show(
        files.map((file) => fileItem(file, kind === "file")),
        "",
      );
      this.#sources.changed();
    };
    // A search that was aborted or failed has found nothing.
    this.#sources.findFiles(query, search.signal).then(found, () => found([]));
  }

  #show(items: readonly PickerItem<Completion>[], query: string): void {
    this.#listed = this.#trigger;
    this.#picker = new Picker(items);
    this.#picker.setQuery(query);
  }
}

function itemsOf(names: readonly NameChoice[], mark: string): readonly PickerItem<Completion>[] {
  return names.map(({ name, detail, group, insert }) => ({
    value: { text: mark + (insert ?? name), isPartial: false },
    label: name,
    detail,
    group,
  }));
}

function fileItem({ path, isFolder }: FoundFile, isMention: boolean): PickerItem<Completion> {
  const shown = isFolder ? `${path}/` : path;
  const text = isMention ? mentionOf(shown) : shown;
  // Inside of quotes, what follows a folder is typed before the closing one.
  return { value: { text: isFolder ? text.replace(/"$/, "") : text, isPartial: isFolder }, label: shown };
}

/** Names what is completed by its kind and where it begins. */
function keyOf({ kind, before }: Trigger, line: number, text: string): string {
  return `${kind} ${line} ${text.length - before}`;
}

function sameTrigger(left: Trigger | undefined, right: Trigger | undefined): boolean {
  return left?.kind === right?.kind && left?.query === right?.query && left?.command === right?.command;
}
