import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { inputText, type UserInput } from "@flint/protocol";

const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/i;

/** A block of text. */
export function textBlock(text: string): ContentBlock & { type: "text" } {
  return { type: "text", text };
}

/** What a user sent, as it is shown to clients that did not send it. */
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
