import type { Keymap } from "@flint/view/commands";

/**
 * The form in which the terminal follows links: files are named with the host they are on, so that no other
 * machine opens them.
 */
export interface Links {
  readonly host: string;
}

/** The size of a terminal, and whether it supports colours and Unicode. */
export interface RenderOptions {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  readonly unicode: boolean;
  /** True if the background is light; unknown and dark look the same. */
  readonly light?: boolean | undefined;
  /** True if lines begin with words instead of marks, for screen readers. */
  readonly isPlain?: boolean | undefined;
  /** The form of links; undefined if the terminal is not known to follow them. */
  readonly links?: Links | undefined;
  /** The keys of the user, for hints; the default ones if absent. */
  readonly keys?: Keymap["keys"] | undefined;
  /** True if the terminal is xterm.js, as in VS Code: it moves the cursor in its own way when it wraps rows. */
  readonly isXtermJs?: boolean | undefined;
}

/** The size that a stream reports. */
export interface TerminalSize {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** On narrower terminals lines are not readable anyway. */
const MIN_COLUMNS = 8;
/** The names of programs with xterm.js in them. Editors made from VS Code kept its name. */
const XTERM_JS: readonly string[] = ["vscode", "Hyper", "Tabby"];

/** Determines a terminal's capabilities from its size and the environment. */
export function readLook(environment: Environment, size: TerminalSize): RenderOptions {
  return {
    // A terminal of unknown size reports 0.
    columns: Math.max(MIN_COLUMNS, size.columns || DEFAULT_COLUMNS),
    rows: size.rows || DEFAULT_ROWS,
    colour: !environment.NO_COLOR && canMoveCursor(environment),
    unicode: isUnicode(environment),
    ...(XTERM_JS.includes(environment.TERM_PROGRAM ?? "") ? { isXtermJs: true } : {}),
  };
}

/** Reports whether lines can be rewritten. */
export function canMoveCursor(environment: Environment): boolean {
  return environment.TERM !== undefined && environment.TERM !== "" && environment.TERM !== "dumb";
}

/** The values of TERM and TERM_PROGRAM of terminals that are known to follow links (OSC 8). */
const LINKING_TERMS = /^(?:xterm-kitty|xterm-ghostty|alacritty|foot|contour|wezterm)\b/;
const LINKING_PROGRAMS: readonly string[] = ["iTerm.app", "WezTerm", "ghostty", "vscode", "WarpTerminal"];

/** GNOME Terminal and others of its family follow links since this version; Konsole since that one. */
const VTE = 5_000;
const KONSOLE = 201_200;

/**
 * Reports whether a terminal is known to follow links. Terminals inside of tmux and screen are not, since
 * those may drop or garble them. `FORCE_HYPERLINK` set to 1 or 0 decides otherwise.
 */
export function followsLinks(environment: Environment): boolean {
  const { FORCE_HYPERLINK: forced, TERM = "", TERM_PROGRAM = "", TMUX, STY } = environment;
  if (!canMoveCursor(environment)) return false;
  if (forced !== undefined && forced !== "") return forced !== "0";
  if (TMUX || STY || /^(?:screen|tmux)/.test(TERM)) return false;
  if (LINKING_TERMS.test(TERM) || LINKING_PROGRAMS.includes(TERM_PROGRAM) || environment.WT_SESSION)
    return true;
  return Number(environment.VTE_VERSION) >= VTE || Number(environment.KONSOLE_VERSION) >= KONSOLE;
}

/** The first variable that is set decides, as for every program; UTF-8 is assumed if none is. */
function isUnicode({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return locale === undefined || locale === "" || /utf-?8/i.test(locale);
}

/** The symbols in front of lines and between words. */
export interface Marks {
  readonly running: string;
  readonly done: string;
  readonly failed: string;
  readonly declined: string;
  readonly pending: string;
  readonly current: string;
  readonly thought: string;
  readonly search: string;
  readonly again: string;
  readonly warning: string;
  readonly arrow: string;
  readonly user: string;
  readonly more: string;
  readonly between: string;
  readonly minus: string;
  readonly spinner: readonly string[];
}

const UNICODE: Marks = {
  running: "●",
  done: "✓",
  failed: "✗",
  declined: "⊘",
  pending: "○",
  current: "▸",
  thought: "✻",
  search: "⌕",
  again: "↻",
  warning: "!",
  arrow: "→",
  user: "›",
  more: "…",
  between: " · ",
  minus: "−",
  spinner: ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

const ASCII: Marks = {
  running: "*",
  done: "+",
  failed: "x",
  declined: "-",
  pending: "o",
  current: ">",
  thought: "~",
  search: "?",
  again: "^",
  warning: "!",
  arrow: "->",
  user: ">",
  more: "...",
  between: " | ",
  minus: "-",
  spinner: ["|", "/", "-", "\\"],
};

/** The symbols that the terminal supports. */
export function marksFor(unicode: boolean): Marks {
  return unicode ? UNICODE : ASCII;
}
