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
