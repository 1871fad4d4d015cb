/** What the terminal can show: how wide and high it is, whether it has colours, and characters beyond ASCII. */
export interface Look {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
  readonly unicode: boolean;
}

/** What is known of the stream that is written to. */
export interface TerminalSize {
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;
/** Narrower than this there is nothing to be read; lines are then cut by the terminal itself. */
const LEAST_COLUMNS = 8;

/** Reads what a terminal can show from its size and the usual variables. */
export function readLook(environment: Environment, size: TerminalSize): Look {
  return {
    // A terminal without a size says 0.
    columns: Math.max(LEAST_COLUMNS, size.columns || USUAL_COLUMNS),
    rows: size.rows || USUAL_ROWS,
    colour: !environment.NO_COLOR && canMoveCursor(environment),
    unicode: isUnicode(environment),
  };
}

/** Whether lines that were written can be written over. */
export function canMoveCursor(environment: Environment): boolean {
  return environment.TERM !== undefined && environment.TERM !== "" && environment.TERM !== "dumb";
}

/** The first of these that is set decides, as for every program. Where none is, terminals of today speak UTF-8. */
function isUnicode({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return locale === undefined || locale === "" || /utf-?8/i.test(locale);
}

/** The signs in front of lines and between words. */
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

/** The signs that the terminal can show. */
export function marksFor(unicode: boolean): Marks {
  return unicode ? UNICODE : ASCII;
}
