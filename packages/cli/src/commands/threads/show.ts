import type { Thread, Turn } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { inheritedEnvironment } from "@flint/server/environment";
import { drawThread, type Line, lineOf, readLook, styled } from "@flint/tui/draw";
import { escapeControls, rowsOf, transcript } from "@flint/view";
import { oneArgument, UsageError } from "../../command-line/command.ts";
import { print, printJson, printRaw } from "../../command-line/output.ts";
import { outputFile } from "../../command-line/output-file.ts";
import { withStoredData } from "../local-server.ts";
import { findThread } from "./thread-reference.ts";
import { type WholeThread, wholeThread } from "./turn-reference.ts";

interface ShowArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

interface ExportArguments {
  readonly values: { readonly format?: string | undefined; readonly out?: string | undefined };
  readonly positionals: readonly string[];
}

/** `flint threads show ID`. */
export async function showThread({ values, positionals }: ShowArguments): Promise<number> {
  const reference = oneArgument("threads show", positionals, "a thread: an id, or last");
  const { thread, turns } = await withStoredData((client) => whole(client, reference));
  if (values.json === true) return printJson({ thread, turns });
  return print(process.stdout.isTTY ? drawnThread(thread, turns) : escapeControls(transcript(thread, turns)));
}

/** A thread as a session draws it, with nothing folded and the number of each turn. */
function drawnThread(thread: Thread, turns: readonly Turn[]): string {
  const look = readLook(inheritedEnvironment(), process.stdout);
  const head = [thread.name ?? thread.id, thread.cwd, thread.model].map(escapeControls).join("  ");
  const lines = turns.flatMap((turn, at): Line[] => [
    [],
    lineOf(`Turn #${at + 1}`, "dim"),
    [],
    ...drawThread(openRows(turn), { look, cwd: thread.cwd }),
  ]);
  return [lineOf(head, "bold"), ...lines].map((line) => `${styled(line, look.colour)}\n`).join("");
}

function openRows(turn: Turn) {
  const folds = new Map(turn.items.map(({ id }) => [id, "open"] as const));
  return rowsOf({ turns: [turn], openItemIds: [] }, folds);
}

/** `flint threads export ID`. Control characters are escaped on a terminal, but not in a file. */
export async function exportThread({ values, positionals }: ExportArguments): Promise<number> {
  const reference = oneArgument("threads export", positionals, "a thread: an id, or last");
  const { format = "markdown", out } = values;
  if (format !== "markdown" && format !== "json") {
    throw new UsageError(`--format must be markdown or json, not ${JSON.stringify(format)}.`);
  }
  const { thread, turns } = await withStoredData((client) => whole(client, reference));
  const text =
    format === "json" ? `${JSON.stringify({ thread, turns }, undefined, 2)}\n` : transcript(thread, turns);
  if (out === undefined) return printRaw(text);
  outputFile(out, 0o600)(text);
  return print(`${out}\n`);
}

async function whole(client: FlintClient, reference: string): Promise<WholeThread> {
  const { id } = await findThread(client, reference, process.cwd());
  return wholeThread(client, id);
}
