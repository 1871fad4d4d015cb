import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { LIMITS } from "@flint/protocol";
import { pastedText } from "../keys/paste.ts";

/** The result of editing elsewhere. With `failed`, the text in the composer stays as it is. */
export type ExternalEdit =
  | { readonly type: "edited"; readonly text: string }
  | { readonly type: "unchanged" }
  | { readonly type: "failed"; readonly problem: string };

/** Start options of an editor. */
export interface ExternalEditorOptions {
  /** The command with its arguments, as VISUAL and EDITOR have it. */
  readonly command: string;
  /** PATH without the folders of the project, whose programs may be an agent's. */
  readonly searchPath: () => Promise<string>;
  /** The folder of the private file with the text. */
  readonly folder: string;
  /** Leaves the terminal as a program expects it: no raw mode, no modes of ours. */
  readonly release: () => void;
  /** Takes the terminal back. Called however the editor ended. */
  readonly restore: () => void;
}

/**
 * Lets the user edit a text in a program that has the terminal meanwhile. Whatever happens to the editor, the text is not
 * lost. Never rejects.
 */
export async function editExternally(text: string, options: ExternalEditorOptions): Promise<ExternalEdit> {
  const { folder, release, restore } = options;
  const file = writeDraft(folder, text);
  if (file === undefined)
    return { type: "failed", problem: `Cannot write a file for the editor in ${folder}.` };
  release();
  const ended = await runEditor(options, file).finally(restore);
  const edited = readDraft(file);
  if (ended !== undefined) return failure(ended, file, edited !== undefined && edited !== text);
  discard(file);
  if (edited === undefined)
    return { type: "failed", problem: "The editor left no file, or one that is too large." };
  return edited === text ? { type: "unchanged" } : { type: "edited", text: edited };
}

/** A failed editor may have saved something, which is then kept where it is. */
function failure(ended: string, file: string, isSaved: boolean): ExternalEdit {
  if (!isSaved) discard(file);
  const saved = isSaved ? ` The file it saved is ${file}.` : "";
  return { type: "failed", problem: `${ended} Your prompt is unchanged.${saved}` };
}

/** Resolves with why the editor failed; undefined if it did not. */
async function runEditor(
  { command, searchPath }: ExternalEditorOptions,
  file: string,
): Promise<string | undefined> {
  const path = await searchPath();
  // Ctrl-C belongs to the editor as long as it has the terminal.
  const listeners = process.listeners("SIGINT");
  const ignore = () => {};
  process.on("SIGINT", ignore);
  for (const listener of listeners) process.off("SIGINT", listener);
  return new Promise<string | undefined>((resolve) => {
    // The command may have arguments and quotes, as git has it.
    const script = `PATH=$2; export PATH; ${command} "$1"`;
    const editor = spawn("/bin/sh", ["-c", script, "sh", file, path], { stdio: "inherit" });
    editor.once("error", (error) => resolve(`The editor could not be started: ${error.message}.`));
    editor.once("close", (code, signal) => {
      if (code === 0) resolve(undefined);
      else if (code === 127)
        resolve(
          `The editor was not found: ${command}. Programs of the project are not used. Set VISUAL or EDITOR to another one.`,
        );
      else resolve(`The editor ended with ${signal ?? `exit code ${code}`}.`);
    });
  }).finally(() => {
    for (const listener of listeners) process.on("SIGINT", listener);
    process.off("SIGINT", ignore);
  });
}

function writeDraft(folder: string, text: string): string | undefined {
  // Expected: a full disk, or a folder that cannot be written.
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(mkdtempSync(join(folder, "edit-")), "prompt.md");
    writeFileSync(file, text, { mode: 0o600, flag: "wx" });
    return file;
  } catch {
    return undefined;
  }
}

/** The edited text, without the line break that editors put at the end; undefined if it cannot be used. */
function readDraft(file: string): string | undefined {
  // Expected: an editor that removed the file.
  try {
    const bytes = readFileSync(file);
    return bytes.length > LIMITS.prompt ? undefined : pastedText(bytes.toString("utf8")).replace(/\n$/, "");
  } catch {
    return undefined;
  }
}

function discard(file: string): void {
  rmSync(dirname(file), { recursive: true, force: true });
}
