import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock, SessionUpdate as UpdateV1 } from "@agentclientprotocol/sdk";
import type { SessionUpdate as UpdateV2 } from "@agentclientprotocol/sdk/experimental/v2";
import {
  type EventData,
  type Item,
  inputText,
  previewOf,
  totalTokens,
  type UserInput,
} from "@flint/protocol";

const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/i;
const LONGEST_TITLE = 80;

/** An update that is the same in both protocol versions. */
type Common<Kind extends string> = Extract<UpdateV1, { sessionUpdate: Kind }> &
  Extract<UpdateV2, { sessionUpdate: Kind }>;

/** A text content block. */
export function textBlock(text: string): ContentBlock & { type: "text" } {
  return { type: "text", text };
}

/** User input as content blocks, for clients that did not send it. */
export function blocksOf(input: readonly UserInput[]): ContentBlock[] {
  return input.map(blockOf);
}

function blockOf(piece: UserInput): ContentBlock {
  switch (piece.type) {
    case "text":
      return textBlock(piece.text);
    case "image": {
      const data = DATA_URL.exec(piece.url);
      if (data?.[1] === undefined) return { type: "resource_link", name: "image", uri: piece.url };
      return { type: "image", mimeType: data[1], data: piece.url.slice(data[0].length) };
    }
    case "localImage":
      return link(basename(piece.path), piece.path);
    case "mention":
      return link(piece.name, piece.path);
    case "skill":
      return textBlock(inputText([piece]));
  }
}

function link(name: string, path: string): ContentBlock {
  return { type: "resource_link", name, uri: path.startsWith("/") ? pathToFileURL(path).href : path };
}

/** The context size and cost of a session. An unknown context window has the size 0. */
export function usageUpdate(data: EventData<"thread/tokenUsage/updated">): Common<"usage_update"> {
  const { last, modelContextWindow = 0, cost } = data;
  const priced = cost === undefined ? {} : { cost: { amount: cost.amount, currency: cost.currency } };
  const used = countOf(totalTokens(last));
  return { sessionUpdate: "usage_update", used, size: countOf(modelContextWindow), ...priced };
}

/** Agents report any number; the schema takes only counts. */
function countOf(reported: number): number {
  return Math.max(0, Math.round(reported));
}

/** The title of a session, unless it stays the same, and when it was last used. */
export function infoUpdate(title: string | undefined, at: number): Common<"session_info_update"> {
  const updatedAt = new Date(at).toISOString();
  return { sessionUpdate: "session_info_update", ...(title === undefined ? {} : { title }), updatedAt };
}

/** The title of a session without a name: the start of its first prompt. */
export function titleUpdate({
  content,
}: Item<"userMessage">): Common<"session_info_update"> & { title: string } {
  return { sessionUpdate: "session_info_update", title: previewOf(inputText(content), LONGEST_TITLE) };
}
