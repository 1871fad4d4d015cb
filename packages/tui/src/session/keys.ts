import { type CommandId, commandFor, type KeyPlace } from "@flint/view/commands";
import type { InputEvent, KeyPress } from "../input/index.ts";
import { keyName } from "../input/index.ts";
import { runCommand } from "./commands/run.ts";
import { submit } from "./commands/submit.ts";
import type { Session } from "./session.ts";
import { situationOf } from "./situation.ts";

/** Gives keys to whatever has the focus: the page, the menu, what waits for an answer, or the composer. */
export class SessionKeys {
  readonly #session: Session;
  readonly #now: () => number;
  /** The keys of a sequence that is not finished, such as the first Escape of two. */
  #chord = "";
  #lastKeyAt = Number.NEGATIVE_INFINITY;
  #mayQuit = false;

  constructor(session: Session, now: () => number) {
    this.#session = session;
    this.#now = now;
  }

  /** Takes what the terminal sent. */
  take(event: InputEvent): void {
    if (event.type === "key") this.#key(event);
    else if (event.type === "paste") this.#paste(event.text);
    this.#session.changed();
  }

  #key(key: KeyPress): void {
    const session = this.#session;
    const isForAsk = session.asks.takes(this.#now(), this.#lastKeyAt);
    this.#lastKeyAt = this.#now();
    session.notice = undefined;
    const place = this.#place(isForAsk);
    const name = keyName(key);
    const chord = this.#chord === "" ? name : `${this.#chord} ${name}`;
    const found = commandFor(session.keymap, chord, place, situationOf(session));
    const { id, more } =
      found.id === undefined && !found.more && this.#chord !== "" ? this.#alone(name, place) : found;
    this.#chord = id === undefined && more ? chord : "";
    if (id !== "clearInput") this.#mayQuit = false;
    if (id !== undefined && this.#command(id, place)) return;
    if (more && id === undefined) session.say("Press Esc again to go back to an earlier prompt.");
    else if (key.text !== undefined) this.#type(key.text, place);
  }

  #alone(name: string, place: KeyPlace) {
    return commandFor(this.#session.keymap, name, place, situationOf(this.#session));
  }

  #place(isForAsk: boolean): KeyPlace {
    const { page, menu, asks } = this.#session;
    if (page !== undefined) return page.place;
    if (menu !== undefined) return "menu";
    return isForAsk && !asks.isTyping ? "ask" : "composer";
  }

  /** Carries out a command where the focus is. Gives whether it was one. */
  #command(id: CommandId, place: KeyPlace): boolean {
    const session = this.#session;
    if (session.page !== undefined) return this.#pageCommand(id);
    if (session.menu !== undefined) return this.#menuCommand(id);
    const isForAsk = place === "ask" || session.asks.isTyping;
    if (isForAsk && session.asks.command(id)) return true;
    if (place === "composer" && this.#composerCommand(id)) return true;
    return runCommand(session, id, "");
  }

  #pageCommand(id: CommandId): boolean {
    const session = this.#session;
    const done = session.page?.command(id);
    if (done === "close") session.page = undefined;
    // Interrupting works behind everything.
    return done !== false || (id === "interruptTurn" && runCommand(session, id, ""));
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

  #composerCommand(id: CommandId): boolean {
    const { composer } = this.#session;
    switch (id) {
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

  #clearOrQuit(): void {
    const { composer } = this.#session;
    const isAgain = this.#mayQuit;
    this.#mayQuit = composer.isEmpty;
    if (isAgain) this.#session.quit();
    else if (composer.isEmpty) this.#session.say("Press Ctrl-C again to quit.");
    else composer.clear();
  }

  #type(text: string, place: KeyPlace): void {
    const { page, menu, asks, composer } = this.#session;
    if (page !== undefined) page.type(text);
    else if (menu !== undefined) menu.type(text);
    else if (place === "ask" || asks.isTyping) asks.type(text);
    else composer.type(text);
  }

  #paste(text: string): void {
    const { page, menu, asks, composer } = this.#session;
    if (page !== undefined) page.type(text);
    else if (menu !== undefined) menu.type(text);
    else if (asks.isTyping) asks.paste(text);
    else composer.paste(text);
  }
}

const MENU_COMMANDS: readonly CommandId[] = ["menuUp", "menuDown", "menuAccept", "menuCancel"];
