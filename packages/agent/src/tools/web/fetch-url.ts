import { harmlessText, shortenText } from "../../text.ts";
import { defineTool } from "../define-tool.ts";
import { text } from "../input.ts";
import { shownCall } from "../shown-call.ts";
import { done, failed, type Tool, type ToolContext, type ToolOutcome } from "../tool.ts";
import { type AddressRule, isPublicAddress } from "./addresses.ts";
import { refusalOf, WRITTEN_BY_OTHERS } from "./asked-first.ts";
import type { Page } from "./page-request.ts";
import { readableText } from "./readable-text.ts";

/** What the model gets of a page. */
const CHARACTERS = 40_000;

/** Reads a page of the web. The user is asked first; this machine and the networks around it are out of reach. */
export function fetchUrlTool(mayDial: AddressRule = isPublicAddress): Tool {
  return defineTool({
    name: "fetch_url",
    description:
      "Reads a page of the web as text. Only http and https; not this machine or a private network.",
    readOnly: false,
    input: { url: text("The address.", { maxLength: 4000 }) },
    run: (input, context) =>
      shownCall({ tool: "fetch_url", title: `Fetches ${input.url}`, input }, context, () =>
        fetchPage(input.url, mayDial, context),
      ),
  });
}

async function fetchPage(address: string, mayDial: AddressRule, context: ToolContext): Promise<ToolOutcome> {
  // Loaded with the first page that is wanted: most threads want none.
  const { checkedUrl, requestPage } = await import("./page-request.ts");
  const { href } = checkedUrl(address);
  const refusal = await refusalOf("fetch_url", { url: href }, context);
  if (refusal !== undefined) return refusal;
  const page = await requestPage(href, { signal: context.signal, mayDial, mayFollow: () => true });
  return page.status >= 400 ? failed(described(page)) : done(described(page));
}

function described({ url, status, contentType, text: content, isCut }: Page): string {
  const readable = /html/i.test(contentType) ? readableText(content) : content;
  return [
    `(${url} answered ${status}. ${WRITTEN_BY_OTHERS})`,
    shortenText(harmlessText(readable), CHARACTERS),
    ...(isCut ? ["(The page is longer; the rest was left out.)"] : []),
  ].join("\n");
}
