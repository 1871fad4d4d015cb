import { cellsOf } from "../../packages/tui/src/draw/line.ts";

/** The colours of a terminal: its background, its text, and the sixteen that programs choose from. */
export interface Theme {
  readonly background: string;
  readonly text: string;
  readonly colours: readonly string[];
}

/** A dark terminal and a light one. */
export const THEMES: Readonly<Record<"dark" | "light", Theme>> = {
  dark: {
    ...{ background: "#16181d", text: "#d8dce4" },
    colours: [
      ...["#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf"],
      ...["#5c6370", "#ff7b86", "#b5e890", "#ffd68a", "#7cc4ff", "#de8df0", "#6fd3df", "#ffffff"],
    ],
  },
  light: {
    ...{ background: "#fdfdfb", text: "#2b2f36" },
    colours: [
      ...["#2b2f36", "#c0392b", "#2e7d32", "#9a6700", "#1f5fbf", "#8e3aa8", "#0b7285", "#6b7280"],
      ...["#4b5563", "#d9534f", "#3c9d40", "#b58100", "#2f74d8", "#a34cc0", "#1390a5", "#111318"],
    ],
  },
};

/** The style of characters from one escape sequence to the next. */
interface Pen {
  readonly colour?: number | undefined;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isInverse?: boolean;
}

const [WIDTH, HEIGHT, MARGIN, FONT] = [8.4, 18, 14, 14];
const FAMILY = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/** A picture of the rows of a terminal, which have their colours as escape sequences. */
export function svgOf(rows: readonly string[], columns: number, theme: Theme, title: string): string {
  const [width, height] = [columns * WIDTH + 2 * MARGIN, rows.length * HEIGHT + 2 * MARGIN];
  // tmux says how characters look only where that changes, also from row to row.
  let pen: Pen = {};
  const lines = rows.flatMap((row, at) => {
    const drawn = rowElements(row, MARGIN + at * HEIGHT, pen, theme);
    pen = drawn.pen;
    return drawn.elements;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${round(width)} ${height}" font-family="${FAMILY}" font-size="${FONT}">`,
    `<title>${title}</title>`,
    `<rect width="100%" height="100%" rx="8" fill="${theme.background}"/>`,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what a colour is
const SEQUENCE = /\u001b\[([\d;]*)m|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u000e\u000f]/;

/** One element for each run of characters that look the same. */
function rowElements(
  row: string,
  top: number,
  before: Pen,
  theme: Theme,
): { readonly elements: readonly string[]; readonly pen: Pen } {
  const elements: string[] = [];
  let pen = before;
  let column = 0;
  for (const [at, piece] of row.split(SEQUENCE).entries()) {
    // Every second piece is what a sequence says.
    if (at % 2 === 1) {
      if (piece !== undefined) pen = changed(pen, piece.split(";").map(Number));
      continue;
    }
    const cells = cellsOf(piece ?? "");
    const width = cells.reduce((sum, cell) => sum + cell.width, 0);
    if ((piece ?? "").trim() !== "" || pen.isInverse === true)
      elements.push(...runElements(piece ?? "", column, width, top, pen, theme));
    column += width;
  }
  return { elements, pen };
}

function runElements(
  text: string,
  column: number,
  width: number,
  top: number,
  pen: Pen,
  theme: Theme,
): string[] {
  const [x, length] = [round(MARGIN + column * WIDTH), round(width * WIDTH)];
  const colour = pen.colour === undefined ? theme.text : (theme.colours[pen.colour] ?? theme.text);
  const back = `<rect x="${x}" y="${top}" width="${length}" height="${HEIGHT}" fill="${colour}"/>`;
  const attributes = [
    `x="${x}" y="${top + HEIGHT - 5}" textLength="${length}" xml:space="preserve"`,
    `fill="${pen.isInverse === true ? theme.background : colour}"`,
    ...(pen.isBold === true ? ['font-weight="bold"'] : []),
    ...(pen.isDim === true ? ['opacity="0.6"'] : []),
    ...(pen.isItalic === true ? ['font-style="italic"'] : []),
    ...(pen.isUnderlined === true ? ['text-decoration="underline"'] : []),
  ];
  return [...(pen.isInverse === true ? [back] : []), `<text ${attributes.join(" ")}>${escaped(text)}</text>`];
}

function changed(pen: Pen, codes: readonly number[]): Pen {
  let now = pen;
  for (const code of codes) now = code === 0 ? {} : { ...now, ...STYLES.get(code) };
  return now;
}

/** The effects of the codes of colours and styles. */
const STYLES: ReadonlyMap<number, Pen> = new Map<number, Pen>([
  [1, { isBold: true }],
  [2, { isDim: true }],
  [3, { isItalic: true }],
  [4, { isUnderlined: true }],
  [7, { isInverse: true }],
  [39, { colour: undefined }],
  ...Array.from({ length: 8 }, (_, at): [number, Pen] => [30 + at, { colour: at }]),
  ...Array.from({ length: 8 }, (_, at): [number, Pen] => [90 + at, { colour: 8 + at }]),
]);

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
