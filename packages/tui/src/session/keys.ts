import { COMMAND_IDS, type CommandId, commandFor, commandOf, type KeyContext } from "@flint/view/commands";
import type { InputEvent, KeyPress } from "../input/index.ts";
import { keyLabel, keyName } from "../input/index.ts";
import { keyIn } from "../pages/key-name.ts";
import { commandContext } from "./commands/command-context.ts";
import { attachClipboard, editPrompt, pasteIntoComposer, toggleStash } from "./commands/prompt-tools.ts";
import { runCommand } from "./commands/run.ts";
import { searchHistory } from "./commands/search-history.ts";
import { submit } from "./commands/submit.ts";
import type { Session } from "./session.ts";

/** Gives keys to whatever has the focus: the page, the menu, what waits for an answer, or the composer. */
export class SessionKeys {
  readonly #session: Session;
  readonly #now: () => number;
  /** The keys of a sequence that is not finished, such as the first Escape of two. */
  #chord = "";
  #lastKeyAt = Number.NEGATIVE_INFINITY;
  #mayQuit = false;
  /** True if the thread is printed again if the screen is drawn again once more. */
  #mayPrint = false;
  #isEnter = false;
  #isTab = false;

  constructor(session: Session, now: () => number) {
    this.#session = session;
    this.#now = now;
  }

  /** Takes what the terminal sent, for a key or for the wheel of the mouse. */
  take(event: InputEvent, isWheel = false): void {
    if (event.type === "key" && isWheel) this.#wheel(event);
    else if (event.type === "key") this.#key(event);
    else if (event.type === "paste") this.#paste(event.text);
    this.#session.changed();
  }

  #key(key: KeyPress): void {
    const session = this.#session;
    const isForAsk = this.#isForAsk();
    session.notice = undefined;
    const place = this.#place(isForAsk);
    const name = keyName(key);
    this.#isEnter = key.key === "enter";
    this.#isTab = key.key === "tab";
    const chord = this.#chord === "" ? name : `${this.#chord} ${name}`;
    const found = this.#lookUp(chord, place);
    const isNothing = found.id === undefined && !found.more;
    const { id, more } = isNothing && this.#chord !== "" ? this.#lookUp(name, place) : found;
    this.#chord = id === undefined && more ? chord : "";
    if (id !== "clearInput") this.#mayQuit = false;
    if (id !== "redraw") this.#mayPrint = false;
    const isDone = id !== undefined && this.#command(id, place);
    if (isDone) this.#session.changed();
    else if (more && id === undefined) session.say(this.#rest(chord));
    else if (key.text !== undefined) this.#type(key.text, place);
    this.#written();
  }

  /** On the full screen the wheel scrolls the thread: it recalls no prompt and selects no answer. */
  #wheel(key: KeyPress): void {
    const session = this.#session;
    const { page, menu, terminal } = session;
    if (page?.scroll !== undefined) page.scroll(key.key === "up" ? -1 : 1);
    else if (page !== undefined || menu !== undefined || terminal.hasScrollback || this.#isPlain)
      this.#key(key);
    else if (key.key === "up" && session.state !== undefined) runCommand(session, "showTranscript", "");
  }

  /** Reports whether what was just pressed or pasted is meant for what waits. */
  #isForAsk(): boolean {
    const { asks, page, menu } = this.#session;
    const now = this.#now();
    const isForAsk = page === undefined && menu === undefined && asks.takes(now, this.#lastKeyAt);
    this.#lastKeyAt = now;
    if (isForAsk) asks.begin();
    return isForAsk;
  }

  /** Completions follow what is written, and so does the draft. */
  #written(): void {
    const { help, composer, link } = this.#session;
    help.completer.update(composer.editor);
    // Before the first thread is open, it is not known whose draft it is.
    if (link !== "connecting") help.keepDraftSoon(composer);
  }

  /**
   * Looks up the command of a key in a place. Behind a menu is the composer; the answers of an approval are
   * selected like a menu.
   */
  #lookUp(chord: string, place: KeyContext) {
    const { keymap } = this.#session;
    const situation = commandContext(this.#session);
    const found = commandFor(keymap, chord, place, situation);
    if (found.id !== undefined || found.more) return found;
    if (place === "menu") return commandFor(keymap, chord, "composer", situation);
    if (place !== "ask") return found;
    const inMenu = commandFor(keymap, chord, "menu", situation);
    const isMove = inMenu.id === "menuUp" || inMenu.id === "menuDown";
    return isMove || (inMenu.id === "menuAccept" && this.#isEnter) ? inMenu : found;
  }

  #place(isForAsk: boolean): KeyContext {
    const { page, menu, asks, help } = this.#session;
    if (page !== undefined) return page.place;
    if (menu !== undefined) return "menu";
    if (asks.isTyping) return "composer";
    if (isForAsk) return "ask";
    return help.completer.isOpen && !this.#isPlain ? "menu" : "composer";
  }

  /** Carries out a command where the focus is. Gives whether it was one. */
  #command(id: CommandId, place: KeyContext): boolean {
    const session = this.#session;
    if (id === "interruptTurn") return this.#interrupt();
    if (session.page !== undefined) return this.#pageCommand(id);
    if (session.menu !== undefined) return this.#menuCommand(id);
    const isForAsk = place === "ask" || session.asks.isTyping;
    if (isForAsk && session.asks.command(id)) return true;
    if (id === "redraw") return this.#redrawOrPrint();
    if (place === "menu" && this.#completion(id)) return true;
    if (place !== "ask" && this.#composerCommand(id)) return true;
    return runCommand(session, id, "");
  }

  /** Interrupts the turn, whatever is in front of it. That closes, so that the user sees how the turn ended. */
  #interrupt(): boolean {
    const session = this.#session;
    session.page = undefined;
    session.menu?.command("menuCancel");
    session.menu = undefined;
    session.asks.closeMessage();
    session.help.completer.dismiss(session.composer.editor);
    return runCommand(session, "interruptTurn", "");
  }

  #pageCommand(id: CommandId): boolean {
    const session = this.#session;
    const done = session.page?.command(id);
    if (done === "close") session.page = undefined;
    return done !== false;
  }

  #menuCommand(id: CommandId): boolean {
    const session = this.#session;
    const { menu } = session;
    if (id === "deleteLeft") {
      menu?.erase();
      return true;
    }
    const isOver = menu?.command(id) === true;
    // Choosing may have opened the next menu.
    if (isOver && session.menu === menu) session.menu = undefined;
    return MENU_COMMANDS.includes(id);
  }

  /** A key of menus while completions are offered. Enter on a command or its argument also sends it. */
  #completion(id: CommandId): boolean {
    const { help, composer } = this.#session;
    const { completer } = help;
    switch (id) {
      case "menuUp":
      case "menuDown":
        completer.move(id === "menuUp" ? -1 : 1);
        return true;
      case "menuAccept": {
        const isSent = completer.kind !== "file" && this.#isEnter;
        completer.accept(composer.editor);
        if (isSent) submit(this.#session, "steer");
        return true;
      }
      case "menuCancel":
        completer.dismiss(composer.editor);
        return true;
      default:
        return false;
    }
  }

  get #isPlain(): boolean {
    return this.#session.look.isPlain === true;
  }

  /** A plain terminal has no list to choose from: the only completion is taken, and several are named. */
  #completePlain(): void {
    const { help, composer } = this.#session;
    const { rows } = help.completer.window(MAX_NAMED);
    const names = rows.flatMap((row) => (row.type === "group" ? [] : [row.item.label]));
    if (names.length === 1) help.completer.accept(composer.editor);
    else this.#session.say(`Completions: ${names.join(", ")}`);
  }

  #composerCommand(id: CommandId): boolean {
    const { composer, help } = this.#session;
    if (this.#isPlain && this.#isTab && help.completer.isOpen) {
      this.#completePlain();
      return true;
    }
    switch (id) {
      case "historyBack":
        return composer.command(id) || help.back(composer);
      case "historyForward":
        return composer.command(id) || help.forward(composer);
      case "searchHistory":
        searchHistory(this.#session);
        return true;
      case "openEditor":
        editPrompt(this.#session);
        return true;
      case "stashInput":
        toggleStash(this.#session);
        return true;
      case "pasteImage":
        attachClipboard(this.#session);
        return true;
      case "send":
        submit(this.#session, "steer");
        return true;
      case "queueInput":
        submit(this.#session, "queue");
        return true;
      case "clearInput":
        this.#clearOrQuit();
        return true;
      case "quit":
        if (composer.isEmpty) this.#session.quit();
        else composer.command("deleteRight");
        return true;
      default:
        return composer.command(id);
    }
  }

  /** Describes the keys that can follow the pressed ones. */
  #rest(pressed: string): string {
    const { keymap, look } = this.#session;
    const id = COMMAND_IDS.find((each) => keymap.keys[each].some((chord) => chord.startsWith(`${pressed} `)));
    if (id === undefined) return "";
    const chord = keymap.keys[id].find((each) => each.startsWith(`${pressed} `)) ?? "";
    const next = chord.slice(pressed.length + 1);
    const again = next === pressed ? " again" : "";
    const { title } = commandOf(id);
    return `Press ${keyLabel(next, look.unicode)}${again} to ${title.slice(0, 1).toLowerCase()}${title.slice(1)}.`;
  }

  /**
   * Draws the screen again. The scrollback stays as it was printed; pressed again, the key prints the thread
   * once more.
   */
  #redrawOrPrint(): true {
    const session = this.#session;
    const isAgain = this.#mayPrint;
    this.#mayPrint = !isAgain && session.terminal.hasScrollback && (session.state?.turns.length ?? 0) > 0;
    session.terminal.redraw();
    if (isAgain) session.thread.printAgain();
    else if (this.#mayPrint)
      session.say(`Press ${keyIn(session.look, "redraw")} again to print the thread at this width.`);
    return true;
  }

  #clearOrQuit(): void {
    const { composer } = this.#session;
    const isAgain = this.#mayQuit;
    this.#mayQuit = composer.isEmpty;
    if (isAgain) this.#session.quit();
    else if (composer.isEmpty)
      this.#session.say(`Press ${keyIn(this.#session.look, "clearInput")} again to quit.`);
    else composer.clear();
  }

  #type(text: string, place: KeyContext): void {
    const { page, menu, asks, composer } = this.#session;
    if (page !== undefined) page.type(text);
    else if (menu !== undefined) menu.type(text);
    else if (place === "ask" || asks.isTyping) asks.type(text);
    // A key that came too early for an answer belongs to what was being written, or to nothing.
    else if (!asks.isOpen || !composer.isEmpty) {
      if (composer.isFull) this.#session.say(FULL);
      else composer.type(text);
    }
  }

  #paste(text: string): void {
    const { page, menu, asks } = this.#session;
    this.#isForAsk();
    if (page?.paste !== undefined) page.paste(text);
    else if (page !== undefined) page.type(text.slice(0, MAX_SEARCH));
    else if (menu !== undefined) menu.type(text.slice(0, MAX_SEARCH));
    else if (asks.isTyping) asks.paste(text);
    else {
      pasteIntoComposer(this.#session, text);
      if (this.#session.composer.isFull) this.#session.say(FULL);
    }
  }
}

const FULL = "The prompt has reached its maximum length. Put long texts into a file and mention it with @.";

/** More completions than this are not named. */
const MAX_NAMED = 12;

/** More of a paste is not searched for. */
const MAX_SEARCH = 200;

const MENU_COMMANDS: readonly CommandId[] = ["menuUp", "menuDown", "menuAccept", "menuCancel"];
