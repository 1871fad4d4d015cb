/** Elements whose content is not shown. */
const HIDDEN = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "head",
  "iframe",
  "object",
  "canvas",
]);

/** Elements that start a new line. */
const BLOCKS = new Set(
  "address article aside blockquote br dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td th thead tr ul".split(
    " ",
  ),
);

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  gt: ">",
  hellip: "…",
  laquo: "«",
  ldquo: "“",
  lsquo: "‘",
  lt: "<",
  mdash: "—",
  nbsp: " ",
  ndash: "–",
  quot: '"',
  raquo: "»",
  rdquo: "”",
  rsquo: "’",
};

/** Converts HTML to the text that a reader sees. Takes one pass over any input. */
export function htmlToText(html: string): string {
  const pieces: string[] = [];
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf("<", at);
    if (open === -1) {
      pieces.push(html.slice(at));
      break;
    }
    pieces.push(html.slice(at, open));
    at = afterTag(html, open, pieces);
  }
  return tidy(decodeEntities(pieces.join("")));
}

/** The position after a tag, a comment, or a hidden element. */
function afterTag(html: string, open: number, pieces: string[]): number {
  if (html.startsWith("<!--", open)) return after(html, "-->", open + 4);
  const name = /^<(\/?)([a-z][a-z0-9]*)/i.exec(html.slice(open, open + 32));
  if (name === null) {
    const isMarkup = /^<[!?/]/.test(html.slice(open, open + 2));
    if (!isMarkup) pieces.push("<");
    return isMarkup ? after(html, ">", open) : open + 1;
  }
  const element = (name[2] ?? "").toLowerCase();
  if (BLOCKS.has(element)) pieces.push(element === "li" && name[1] === "" ? "\n- " : "\n");
  const end = after(html, ">", open);
  return name[1] === "" && HIDDEN.has(element) ? afterElement(html, element, end) : end;
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** The position after the end of an element, or the end of the text. */
function afterElement(html: string, element: string, from: number): number {
  const ending = `</${element}`;
  for (let at = html.indexOf("</", from); at !== -1; at = html.indexOf("</", at + 2)) {
    if (html.slice(at, at + ending.length).toLowerCase() === ending) return after(html, ">", at);
  }
  return html.length;
}

function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-f]{1,6}|#\d{1,7}|[a-z]{2,8});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole;
    const isHex = /^#x/i.test(name);
    const code = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
    return code > 0x10ffff ? whole : String.fromCodePoint(code);
  });
}

function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/[\t\r\f\v \u00a0]+/g, " ").trim());
  return lines
    .filter((line, index) => line !== "" || (lines[index - 1] ?? "") !== "")
    .join("\n")
    .trim();
}
