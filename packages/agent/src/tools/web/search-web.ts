import { reasonOf } from "@flint/host/files";
import type { Item } from "@flint/protocol";
import { harmlessText } from "../../text.ts";
import { defineTool } from "../define-tool.ts";
import { text } from "../input.ts";
import { done, failed, INTERRUPTED, type Tool, type ToolContext, type ToolOutcome } from "../tool.ts";
import { refusalOf, WRITTEN_BY_OTHERS } from "./asked-first.ts";

const RESULTS = 10;
const EXCERPT_CHARACTERS = 500;

/** Searches the web where the user said; what is found is told with its addresses. */
export function searchWebTool(searchUrl: string): Tool {
  return defineTool({
    name: "search_web",
    description: "Searches the web and gives titles, addresses and excerpts.",
    readOnly: false,
    input: { query: text("What to search for.", { maxLength: 1000 }) },
    async run({ query }, context) {
      const { turn, itemId, signal } = context;
      const item: Item<"webSearch"> = { type: "webSearch", id: itemId, query };
      turn.emit({ type: "item/started", item });
      // Expected: a search that does not answer, or not as it should.
      const outcome = await search(searchUrl, query, context).catch((thrown) => failed(reasonOf(thrown)));
      if (!signal.aborted) turn.emit({ type: "item/completed", item });
      return signal.aborted ? INTERRUPTED : outcome;
    },
  });
}

async function search(searchUrl: string, query: string, context: ToolContext): Promise<ToolOutcome> {
  const refusal = await refusalOf("search_web", { query }, context);
  if (refusal !== undefined) return refusal;
  const address = new URL(searchUrl.replaceAll("{query}", encodeURIComponent(query)));
  // The user chose this address, so it may be on this machine; where it leads on to may not be elsewhere.
  const mayFollow = (url: URL) => url.origin === address.origin;
  // Loaded with the first search: most threads want none.
  const { requestPage } = await import("./page-request.ts");
  const page = await requestPage(address.href, { signal: context.signal, mayDial: () => true, mayFollow });
  if (page.status >= 400) return failed(`The search answered ${page.status}.`);
  return done(describeResults(page.text));
}

function describeResults(answer: string): string {
  const results = resultsOf(answer).slice(0, RESULTS);
  if (results.length === 0) return "(Nothing was found.)";
  const listed = results.map(({ title, url, content }, index) =>
    harmlessText(`${index + 1}. ${title}\n${url}\n${content.slice(0, EXCERPT_CHARACTERS)}`),
  );
  return [`(${WRITTEN_BY_OTHERS})`, ...listed].join("\n\n");
}

interface Result {
  readonly title: string;
  readonly url: string;
  readonly content: string;
}

/** Reads an answer in the way of SearXNG. Throws if it is none. */
function resultsOf(answer: string): Result[] {
  const parsed: unknown = JSON.parse(answer);
  const results = field(parsed, "results");
  if (!Array.isArray(results)) throw new Error("The search answered without results; is its format JSON?");
  return results.map((result: unknown) => ({
    title: String(field(result, "title") ?? ""),
    url: String(field(result, "url") ?? ""),
    content: String(field(result, "content") ?? ""),
  }));
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
