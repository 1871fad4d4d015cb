import { inputText, isKnownItem, type Turn } from "@flint/protocol";
import { escapeControls, transcript } from "@flint/view";
import type { SessionContext } from "../context.ts";

/** Something of a thread that can be copied. */
interface Copyable {
  readonly kind: "prompt" | "answer" | "code";
  readonly text: string;
}

/** More is not offered at once; the transcript has everything. */
const MAX_CHOICES = 200;

/** Copies the last answer, its last code block or the whole thread, or lets the user choose a message or a code block. */
export function copyFromThread(session: SessionContext, what: string): void {
  const { state } = session;
  if (state === undefined) return;
  session.run(async () => {
    if (what === "choose") {
      const all = copyables(await session.turns.read());
      choose(session, all.toReversed().slice(0, MAX_CHOICES));
    } else if (what === "thread") copy(session, transcript(state.thread, await session.turns.read()));
    else copy(session, await lastOf(session, what === "code" ? "code" : "answer"));
  });
}

/** The text of the last one of a kind, which is seldom far back. */
async function lastOf({ turns }: SessionContext, requested: Copyable["kind"]): Promise<string> {
  const last = (among: readonly Turn[]) => copyables(among).findLast(({ kind }) => kind === requested)?.text;
  return last(turns.known) ?? last(await turns.read()) ?? "";
}

function copy(session: SessionContext, text: string): void {
  if (text === "") session.say("There is nothing to copy.");
  else if (session.terminal.copy(text)) session.say(`Copied ${text.length} characters.`);
  else session.say("Copying is not available in plain mode. /export writes the thread to a file.");
}

const NAMES = { prompt: "You", answer: "Answer", code: "Code" } as const;

function choose(session: SessionContext, choices: readonly Copyable[]): void {
  const items = choices.map(({ kind, text }) => {
    const lines = text.trim().split("\n");
    const more = lines.length === 1 ? undefined : `${lines.length} lines`;
    const label = `${NAMES[kind]}: ${escapeControls(lines[0] ?? "").slice(0, 200)}`;
    return { label, detail: more, choose: () => copy(session, text) };
  });
  session.openMenu({ title: "Copy which message or code block?", items }, 0);
}

/** The messages of a thread and the code blocks in them, oldest first. */
function copyables(turns: readonly Turn[]): Copyable[] {
  return turns.flatMap(({ items }) =>
    items.flatMap((item): Copyable[] => {
      if (!isKnownItem(item)) return [];
      if (item.type === "userMessage") return [{ kind: "prompt", text: inputText(item.content) }];
      if (item.type !== "agentMessage" || item.text.trim() === "") return [];
      return [{ kind: "answer", text: item.text }, ...codeIn(item.text)];
    }),
  );
}

function codeIn(text: string): Copyable[] {
  const blocks = text.matchAll(/^```[^\n]*\n([\s\S]*?)^```/gm);
  return Array.from(blocks, ([, code = ""]): Copyable => ({ kind: "code", text: code }));
}
