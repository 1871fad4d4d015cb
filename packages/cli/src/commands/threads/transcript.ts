import {
  inputText,
  isKnownItem,
  type KnownItem,
  type Thread,
  type ThreadItem,
  type Turn,
} from "@flint/protocol";

/** A thread as Markdown: what was asked, said, run and changed, in order. */
export function markdownOf(thread: Thread, turns: readonly Turn[]): string {
  const about = [
    `# ${thread.name ?? (firstLine(thread.preview) || thread.id)}`,
    `- Thread: ${thread.id}\n- Folder: ${thread.cwd}\n- Model: ${thread.model}\n- Begun: ${day(thread.createdAt)}`,
  ];
  return `${[...about, ...turns.map(turnText)].join("\n\n")}\n`;
}

function turnText(turn: Turn): string {
  const items = turn.items.map(itemText).filter((text) => text !== "");
  const ending = turn.status === "completed" ? [] : [`*(${turn.status}${problemOf(turn)})*`];
  return [...items, ...ending].join("\n\n");
}

function problemOf({ error }: Turn): string {
  return error === undefined ? "" : `: ${error.message}`;
}

function itemText(item: ThreadItem): string {
  return isKnownItem(item) ? knownItemText(item) : `*(${item.type})*`;
}

function knownItemText(item: KnownItem): string {
  switch (item.type) {
    case "userMessage":
      return `## ${firstLine(inputText(item.content))}\n\n${inputText(item.content)}`.trimEnd();
    case "agentMessage":
      return item.text;
    case "reasoning":
      return quoted(item.content ?? "");
    case "commandExecution": {
      const how = item.exitCode === undefined ? item.status : `exit ${item.exitCode}`;
      return `${fenced("sh", `$ ${item.command}\n${item.aggregatedOutput ?? ""}`.trimEnd())}\n\n(${how})`;
    }
    case "fileChange":
      return item.changes
        .map((change) => `${fenced("diff", change.diff)}\n\n(${change.kind} ${change.path}: ${item.status})`)
        .join("\n\n");
    case "mcpToolCall":
      return `*Called ${item.tool} of ${item.server} (${item.status})*`;
    case "toolCall":
      return `*${item.title ?? item.tool} (${item.status})*`;
    case "webSearch":
      return `*Searched the web for ${item.query}*`;
    case "plan":
      return item.text;
    case "enteredReviewMode":
    case "exitedReviewMode":
      return `*Review: ${item.review}*`;
    case "agentHandoff":
      return `*${item.toAgent} goes on in place of ${item.fromAgent}*`;
    case "contextCompaction":
      return "*The conversation so far was summarised.*";
  }
}

/** A fence that nothing inside it can close. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}

function quoted(text: string): string {
  return text === ""
    ? ""
    : text
        .trim()
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n");
}

function firstLine(text: string): string {
  const [line = ""] = text.trim().split("\n");
  return line.length > 80 ? `${line.slice(0, 79)}…` : line;
}

function day(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().slice(0, 16).replace("T", " ");
}
