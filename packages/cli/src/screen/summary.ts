import type { Cost, TurnStatus } from "@flint/protocol";
import { visible } from "@flint/view";
import { count, duration, money, tokens } from "./amounts.ts";
import type { Block } from "./block.ts";
import { type Line, type Style, span } from "./line.ts";
import type { Look } from "./look.ts";
import { marksFor } from "./marks.ts";

/** How a turn ended, and what it took. */
export interface TurnEnd {
  readonly status: TurnStatus;
  readonly error?: string | undefined;
  readonly tookMs: number;
  readonly tokens: number;
  readonly cost?: Cost | undefined;
  readonly files: number;
  /** The command that goes on with the thread, if it is kept. */
  readonly goOn?: string | undefined;
}

const WORDS: Readonly<
  Record<TurnStatus, { mark: "done" | "failed" | "declined"; style: Style; text: string }>
> = {
  completed: { mark: "done", style: "green", text: "Done" },
  interrupted: { mark: "declined", style: "yellow", text: "Interrupted" },
  failed: { mark: "failed", style: "red", text: "Failed" },
  inProgress: { mark: "failed", style: "red", text: "Not finished" },
};

/** The last lines of a turn: how it ended, what it took, and how to go on. */
export function summaryBlock(end: TurnEnd, look: Look): Block {
  const marks = marksFor(look.unicode);
  const { mark, style, text } = WORDS[end.status];
  const figures = figuresOf(end).join(marks.between);
  const first: Line = [span(marks[mark], style), span(` ${text}`, "bold"), span(` ${figures}`, "dim")];
  const why: Line[] =
    end.error === undefined ? [] : [[span(`  ${visible(end.error).replaceAll("\n", " ")}`, style)]];
  const goOn: Line[] = end.goOn === undefined ? [] : [[span(`  Go on: ${end.goOn}`, "dim")]];
  return { head: [first, ...why, ...goOn], indent: 2 };
}

function figuresOf({ tookMs, tokens: used, cost, files }: TurnEnd): string[] {
  return [
    `in ${duration(tookMs)}`,
    ...(used === 0 ? [] : [tokens(used)]),
    ...(cost === undefined ? [] : [money(cost)]),
    ...(files === 0 ? [] : [`${count(files, "file")} changed`]),
  ];
}
