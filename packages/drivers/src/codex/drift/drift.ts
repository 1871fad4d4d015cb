import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { compareWords, type GeneratedWords } from "./compare.ts";

/** Longer than a slow machine needs; a Codex of today prints them in a fifth of a second. */
const PRINTS_WITHIN_MS = 5_000;

/** A program that is to run to its end. */
export interface Printing {
  readonly command: readonly string[];
  /** The folder to run it in, and the only one that it has to write. */
  readonly folder: string;
  readonly timeoutMs: number;
}

/** Runs a program to its end. */
export type Print = (printing: Printing) => Promise<{ readonly exitCode: number; readonly said: string }>;

/**
 * Compares what the installed Codex prints about its own words with the words that Flint speaks, and names each one
 * that is gone or has changed, in sentences. Rejects if this Codex cannot print them.
 */
export async function codexDrift(program: readonly string[], print: Print): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "flint-codex-words-"));
  try {
    const command = [...program, "app-server", "generate-json-schema", "--experimental", "--out", folder];
    const { exitCode, said } = await print({ command, folder, timeoutMs: PRINTS_WITHIN_MS });
    if (exitCode === 0) return compareWords(await readWords(folder));
    const message = `Codex did not print its protocol (exit code ${exitCode}): ${said.trim()}`;
    throw new FlintError("agentFailed", message);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Has it printed by a sandbox, in which it can write nothing else. */
export function printingIn(sandbox: Sandbox): Print {
  return async ({ command, folder, timeoutMs }) => {
    let said = "";
    const { exitCode } = await sandbox.launch({
      ...{ command, cwd: folder, workspace: folder, timeoutMs },
      policy: { type: "workspaceWrite" },
      onOutput: (text) => {
        said = (said + text).slice(-2_000);
      },
    });
    return { exitCode, said };
  };
}

async function readWords(folder: string): Promise<GeneratedWords> {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
  const [requests, serverRequests, notifications] = await Promise.all([
    read("ClientRequest"),
    read("ServerRequest"),
    read("ServerNotification"),
  ]);
  return { requests, serverRequests, notifications };
}
