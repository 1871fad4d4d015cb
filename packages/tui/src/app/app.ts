import type { Clock } from "@flint/core/ports";
import type { ThreadSettings } from "@flint/protocol";
import type { Keymap, StatusPart, Theme } from "@flint/view/commands";
import { followsLinks, type Links, type RenderOptions, readLook } from "../draw/render-options.ts";
import type { DrawnFrame } from "../first-frame/first-frame.ts";
import { isWheel, KeyReader, type TerminalAnswer } from "../input/index.ts";
import { runCommand } from "../session/commands/run.ts";
import { submit } from "../session/commands/submit.ts";
import type { NewThreadSettings, PermissionChoice, SessionTerminal } from "../session/context.ts";
import { SessionKeys } from "../session/keys.ts";
import type { Machine } from "../session/machine.ts";
import { Session } from "../session/session.ts";
import { TICK_MS } from "../session/session-rows.ts";
import type { TerminalDevice } from "../terminal/device.ts";
import { FullScreen } from "../terminal/full-screen.ts";
import { InlineScreen } from "../terminal/inline-screen.ts";
import { ASK_BACKGROUND, copyToClipboard, READING } from "../terminal/modes.ts";
import { ASK_WHEEL, Wheel } from "../terminal/wheel.ts";
import { Connection, isLost, type SessionServer } from "./connection.ts";
import { CrashMarker } from "./crash-marker.ts";
import { FrameScheduler } from "./frame-scheduler.ts";
import { Notifier } from "./notifier.ts";
import { PlainView } from "./plain-view.ts";
import { FullView, InlineView, type SessionView } from "./views.ts";
import { WindowTitle } from "./window-title.ts";

/** Options for the start of a session. */
export interface SessionStart {
  /** The thread to continue; a new one if absent. Found once the server can be asked. */
  readonly findThread?: ((server: SessionServer) => Promise<string>) | undefined;
  /** True if the user chooses the thread from the list. */
  readonly choose?: boolean | undefined;
  readonly prompt?: string | undefined;
}

/** Options of a session in a terminal. */
export interface SessionOptions {
  readonly device: TerminalDevice;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly machine: Machine;
  readonly keymap: Keymap;
  /** The parts of the status line, in order. */
  readonly statusLine: readonly StatusPart[];
  readonly theme: Theme;
  readonly permissions: readonly PermissionChoice[];
  readonly describePermissions: (settings: ThreadSettings) => string;
  /** The settings of a new thread. */
  readonly settings: NewThreadSettings;
  readonly connect: () => Promise<SessionServer>;
  readonly start: SessionStart;
  /** The frame that is on the terminal already, drawn inline. */
  readonly firstFrame?: DrawnFrame | undefined;
  /** The screen on which it is drawn. */
  readonly screen: "inline" | "full" | "plain";
}

/** Backgrounds above this, of 255, count as light. */
const HALF_LIGHT = 128;

/** Time for which the size has to stay the same before it is drawn. */
const RESIZE_MS = 40;

/** A session in a terminal, from the first frame until the terminal is restored. */
export class SessionApp {
  readonly #options: SessionOptions;
  readonly #session: Session;
  readonly #keys: SessionKeys;
  readonly #reader: KeyReader;
  readonly #frames: FrameScheduler;
  readonly #full: FullScreen;
  readonly #view: SessionView;
  readonly #attention: Notifier;
  readonly #title: WindowTitle;
  readonly #wheel: Wheel;
  readonly #leftOver: CrashMarker;
  readonly #connection: Connection;
  readonly #exit: Promise<number>;
  #resolveExit: (code: number) => void = () => {};
  readonly #links: Links | undefined;
  #theme: Theme;
  /** True if the terminal has reported a light background; its report is not waited for. */
  #isLight = false;
  #isFirst = true;
  #isShared = false;
  #closed = false;
  /** The shell has the terminal. */
  #isSuspended = false;
  #cancelResize: () => void = () => {};

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#exit = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
    const { device, clock } = options;
    this.#theme = options.theme;
    this.#links = followsLinks(options.environment) ? { host: options.machine.host } : undefined;
    const write = (text: string) => device.write(text);
    this.#frames = new FrameScheduler(clock, () => this.#draw());
    this.#full = new FullScreen(write, this.#look);
    this.#view = this.#viewOf(options.screen, write);
    this.#attention = new Notifier(write);
    this.#title = new WindowTitle(write);
    this.#wheel = new Wheel(write);
    this.#leftOver = new CrashMarker(options.machine, options.device.name);
    this.#session = new Session({
      machine: options.machine,
      keymap: options.keymap,
      statusLine: options.statusLine,
      permissions: options.permissions,
      describePermissions: options.describePermissions,
      settings: options.settings,
      look: this.#look,
      transcriptLook: this.#transcriptLook,
      now: () => clock.now(),
      changed: () => this.#frames.soon(),
      clock,
      terminal: this.#terminal(options, write),
      quit: () => this.close(0),
      connect: () => void this.#connection.start(),
    });
    this.#keys = new SessionKeys(this.#session, () => clock.monotonic());
    this.#reader = new KeyReader(clock, (events) => {
      const isTurned = isWheel(events);
      for (const event of events) {
        if (event.type === "focus") this.#attention.focus(event.focused);
        if (event.type === "answer") this.#answered(event.answer);
        this.#keys.take(event, isTurned);
      }
      this.#frames.now();
    });
    this.#connection = new Connection(options.connect, this.#listener(), clock);
  }

  /** Runs the session. Resolves with the exit code once the terminal is restored. */
  async run(): Promise<number> {
    this.#begin();
    this.#frames.now();
    void this.#connection.start();
    const code = await this.#exit;
    await this.#connection.stop();
    return code;
  }

  /** The thread that is shown, and whether its turn continues without the session; undefined before the first prompt. */
  get thread(): { readonly id: string; readonly continues: boolean } | undefined {
    const { threadId, state, turns } = this.#session;
    const isEmpty = turns.isComplete && turns.known.length === 0;
    if (threadId === undefined || state === undefined || isEmpty) return undefined;
    return { id: threadId, continues: this.#isShared && state.activeTurnId !== undefined };
  }

  /** Restores the terminal and ends the session; the thread stays where it is. */
  close(code: number): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#session.help.keepDraft(this.#session.composer);
    this.#frames.stop();
    this.#pause();
    this.#options.device.release();
    this.#resolveExit(code);
  }

  readonly #look = (): RenderOptions => {
    const { keys } = this.#options.keymap;
    const look = { ...readLook(this.#options.environment, this.#options.device.size), keys };
    if (this.#options.screen === "plain") return { ...look, colour: false, isPlain: true };
    const light = this.#theme === "auto" ? this.#isLight : this.#theme === "light";
    return this.#theme === "plain" ? { ...look, colour: false } : { ...look, light, links: this.#links };
  };

  /** On the full screen the last column stays free. */
  readonly #transcriptLook = (): RenderOptions => {
    const look = this.#look();
    return this.#options.screen === "full" ? { ...look, columns: look.columns - 1 } : look;
  };

  #terminal({ screen, device }: SessionOptions, write: (text: string) => void): SessionTerminal {
    const theme = () => this.#theme;
    return {
      copy: (text) => {
        if (screen !== "plain") write(copyToClipboard(text));
        return screen !== "plain";
      },
      release: () => {
        this.#pause();
        device.release();
      },
      restore: () => this.#begin(),
      suspend: () => this.#suspend(),
      redraw: () => this.#redraw(),
      hasScrollback: screen === "inline",
      get theme() {
        return theme();
      },
      useTheme: (next) => {
        this.#theme = next;
        this.#redraw();
      },
    };
  }

  #answered(answer: TerminalAnswer): void {
    this.#wheel.answered(answer);
    if (answer.about !== "background") return;
    const { red, green, blue } = answer.color;
    const isLight = 0.299 * red + 0.587 * green + 0.114 * blue > HALF_LIGHT;
    if (isLight === this.#isLight) return;
    this.#isLight = isLight;
    this.#redraw();
  }

  /** A plain terminal is sent no sequences at all. */
  get #reading(): { readonly on: string; readonly off: string } {
    if (this.#options.screen === "plain") return { on: "", off: "" };
    const { screen, environment } = this.#options;
    // Apple's terminal prints the end of this question.
    const wheel = screen === "full" && environment.TERM_PROGRAM !== "Apple_Terminal" ? ASK_WHEEL : "";
    return { on: `${READING.on}${ASK_BACKGROUND}${wheel}`, off: READING.off };
  }

  #viewOf(screen: SessionOptions["screen"], write: (text: string) => void): SessionView {
    if (screen === "full") return new FullView(this.#full);
    if (screen === "plain") return new PlainView(write);
    const inline = new InlineScreen(write, this.#look);
    const first = this.#options.firstFrame;
    if (first !== undefined) inline.adopt(first.rows, first.columns, first.cursor);
    return new InlineView(inline);
  }

  #begin(): void {
    const { device } = this.#options;
    const cleanUp = this.#leftOver.cleanUp();
    // Earlier rows may be on a screen that was left.
    if (cleanUp !== "" && this.#options.firstFrame !== undefined) this.#view.clear();
    device.write(`${cleanUp}${this.#reading.on}`);
    this.#leftOver.mark(false);
    device.listen({
      input: (bytes) => this.#reader.push(bytes),
      resized: () => this.#resized(),
      continued: () => this.#continue(),
      ended: () => this.close(1),
    });
  }

  /** A window that is dragged changes its size faster than it draws, so what is drawn would be for another size. */
  #resized(): void {
    this.#view.resized?.();
    this.#cancelResize();
    this.#cancelResize = this.#options.clock.after(RESIZE_MS, () => this.#frames.now());
  }

  #pause(): void {
    this.#cancelResize();
    this.#wheel.allow(true);
    this.#full.leave();
    this.#view.clear();
    this.#title.forget();
    this.#options.device.write(this.#reading.off);
    this.#leftOver.clear();
  }

  #suspend(): void {
    this.#pause();
    this.#isSuspended = true;
    this.#options.device.suspend();
  }

  #continue(): void {
    this.#reader.reset();
    this.#isSuspended = false;
    this.#options.device.write(this.#reading.on);
    this.#frames.now();
  }

  #redraw(): void {
    this.#full.forget();
    this.#view.clear();
    this.#frames.now();
  }

  #listener() {
    const session = this.#session;
    return {
      opened: (server: SessionServer) => {
        this.#isShared = server.isShared;
        session.run(async () => {
          try {
            await session.opened(server);
            if (this.#isFirst) await this.#first(server);
            this.#isFirst = false;
          } catch (thrown) {
            this.#isFirst &&= isLost(thrown);
            throw thrown;
          } finally {
            session.ready(server);
          }
          this.#sendLater();
        });
      },
      lost: (reason: string, again: boolean) => session.lost(reason, again),
      event: (event: Parameters<Session["event"]>[0]) => session.event(event),
    };
  }

  /** Opens the thread that was asked for, and sends the first prompt. */
  async #first(server: SessionServer): Promise<void> {
    const { findThread, choose, prompt } = this.#options.start;
    const session = this.#session;
    if (findThread === undefined) session.thread.begin();
    else await session.thread.open(await findThread(server), true);
    if (choose === true) runCommand(session, "listThreads", "");
    if (prompt !== undefined && prompt !== "") session.inputs.sendText(prompt, "steer");
  }

  /** Sends what the user entered while the server could not be reached. */
  #sendLater(): void {
    const session = this.#session;
    const delivery = session.inputs.takeLater();
    if (delivery === undefined) return;
    session.notice = undefined;
    submit(session, delivery);
  }

  #draw(): void {
    if (this.#closed || this.#isSuspended) return;
    const session = this.#session;
    const { clock } = this.#options;
    const look = this.#look();
    this.#attention.look(session.state, session.others.waiting);
    const isAlternate = this.#options.screen === "full" || session.page !== undefined;
    if (this.#options.screen !== "plain") {
      // Arrow keys scroll a page; below the thread they would recall prompts.
      this.#wheel.allow(!isAlternate || session.page !== undefined);
      this.#leftOver.mark(isAlternate, this.#wheel.isOff);
      this.#title.look(session.state, look);
    }
    if (session.page !== undefined) {
      if (look.isPlain === true) this.#view.draw(session, clock.now(), look);
      else {
        const { rows, cursor } = session.page.draw(look);
        this.#full.draw(rows, cursor);
      }
      return;
    }
    if (this.#options.screen !== "full") this.#full.leave();
    const asked = session.asks.update(session.state, clock.monotonic(), session.transcriptLook);
    if (asked !== undefined) session.transcript.put(asked, session.asks.itemId);
    if (session.asks.itemId !== undefined) session.transcript.saw(session.asks.itemId);
    this.#view.draw(session, clock.now(), look);
    // While the user or the server is waited for, nothing moves.
    const isRunning = session.state?.activeTurnId !== undefined && session.link === "open";
    const isWorking = isRunning && !session.asks.isOpen;
    const isMoving = isWorking && this.#options.screen !== "plain";
    if (isMoving) this.#frames.after(TICK_MS);
  }
}
