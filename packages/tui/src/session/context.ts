import type { ParamsInput, ThreadSettings, ThreadState } from "@flint/protocol";
import type { AgentEvent, FlintClient } from "@flint/sdk";
import type { CommandId, KeyContext, Keymap, Theme } from "@flint/view/commands";
import type { Line, LineBlock } from "../draw/line.ts";
import type { RenderOptions } from "../draw/render-options.ts";
import type { CursorPosition } from "../terminal/inline-screen.ts";
import type { SentAnswers } from "./answers.ts";
import type { Composer } from "./composer.ts";
import type { Machine } from "./machine.ts";
import type { MenuOptions } from "./menu.ts";
import type { OwnChanges } from "./other-clients/own-changes.ts";
import type { AllTurns } from "./thread/all-turns.ts";

/** The settings of a thread that does not exist yet. */
export type NewThreadSettings = ParamsInput<"thread/start">;

/** A permission mode as the user chooses it. */
export interface PermissionChoice {
  readonly name: string;
  readonly doc: string;
  readonly settings: Partial<NewThreadSettings>;
}

/** Services of a session's terminal beyond drawing. */
export interface SessionTerminal {
  /** Copies to its clipboard; false if it has none. */
  copy(text: string): boolean;
  /** Leaves it to another program, and takes it back. */
  release(): void;
  restore(): void;
  suspend(): void;
  redraw(): void;
  /** True if finished rows are in its scrollback, where they cannot be drawn again. */
  readonly hasScrollback: boolean;
  readonly theme: Theme;
  useTheme(theme: Theme): void;
}

/** Goes over to other threads, and changes the settings of the one that is shown. */
export interface ThreadControls {
  open(threadId: string): Promise<void>;
  startNew(): Promise<void>;
  /** The id of the thread; starts one if there is none. */
  ensure(): Promise<string>;
  /** Changes settings: of the thread, or of the one that the next prompt starts. */
  change(settings: Partial<NewThreadSettings>): Promise<void>;
  /** Sets a selector of the agent, in the same way. */
  setControl(id: string, value: string): Promise<void>;
}

/** Sends prompts. */
export interface PromptSender {
  /** Sends text as a turn. If that is refused, the user gets it back. */
  sendText(text: string, delivery: "steer" | "queue"): void;
}

/** The members of a session that its parts use. */
export interface SessionContext {
  readonly machine: Machine;
  readonly keymap: Keymap;
  readonly permissions: readonly PermissionChoice[];
  readonly composer: Composer;
  /** The thread; undefined before its first turn. */
  readonly state: ThreadState | undefined;
  /** Its turns; `state` may lack the earlier ones. */
  readonly turns: Pick<AllTurns, "known" | "isComplete" | "read">;
  /** The settings in force, or those that a new thread will have. */
  readonly settings: ThreadSettings | undefined;
  readonly isConnected: boolean;
  /** Throws if the server cannot be reached at the moment. */
  readonly client: FlintClient;
  readonly look: RenderOptions;
  readonly terminal: SessionTerminal;
  readonly thread: ThreadControls;
  readonly inputs: PromptSender;
  /** Shows a line below the composer until the next key; an empty one removes it. */
  say(text: string): void;
  /** Prints a warning into the transcript. */
  warn(text: string): void;
  /** Prints a block into the transcript. */
  put(block: LineBlock): void;
  /** Carries out work, and shows its failure. */
  run(work: () => Promise<unknown>): void;
  openMenu(menu: MenuOptions, selected?: number): void;
  closeMenu(): void;
  openPage(page: Page): void;
  /** The changes of the thread that are asked for here. */
  readonly ownChanges: OwnChanges;
  /** Sends answers to approvals and questions of any thread. */
  readonly answers: SentAnswers;
  /** The last rewind of this session, which can be undone. */
  readonly lastRevert: string | undefined;
  noteRevert(revertId: string | undefined): void;
  readonly now: () => number;
  /** Draws again soon. */
  changed(): void;
  quit(): void;
  /** Words for the permissions of settings. */
  describePermissions(settings: ThreadSettings): string;
}

/** A screen of its own, on the alternate screen. */
export interface Page {
  readonly place: KeyContext;
  /** Exactly as many rows as the terminal has, or fewer. */
  draw(look: RenderOptions): { readonly rows: readonly Line[]; readonly cursor?: CursorPosition | undefined };
  /** Carries out a command. Gives `close` once the page is over, and `false` if it is not its command. */
  command(id: CommandId): boolean | "close";
  /** Scrolls by a row for the wheel of the mouse; without this, it presses arrow keys. */
  scroll?(by: 1 | -1): void;
  /** Takes typed text. */
  type(text: string): void;
  /** Takes pasted text; without this, its beginning is typed. */
  paste?(text: string): void;
  /** Called with every event of the server. */
  event?(event: AgentEvent): void;
  /** Called with every change of the thread and of other threads. */
  refresh?(): void;
  /** Called when it is no longer shown. */
  close?(): void;
}

/** State of the session's connection to its server. */
export type ConnectionState = "connecting" | "open" | "lost" | "failed";
