import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { type CodexSchemas, compareSchemas } from "./compare.ts";

/** Longer than a slow machine needs: Codex prints its schemas in a fifth of a second. */
const PRINT_MS = 5_000;

/** A program to run to its end. */
export interface ProgramRun {
  readonly command: readonly string[];
  /** The folder to run it in, and the only one that it has to write. */
  readonly folder: string;
  readonly timeoutMs: number;
}

/** Runs a program to its end. */
export type RunProgram = (run: ProgramRun) => Promise<{ readonly exitCode: number; readonly output: string }>;

/**
 * Compares the schemas that the installed Codex prints with Flint's part of the protocol, and describes each difference
 * in a sentence. Rejects if this Codex cannot print them.
 */
export async function codexDrift(program: readonly string[], run: RunProgram): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "flint-codex-schemas-"));
  try {
    const command = [...program, "app-server", "generate-json-schema", "--experimental", "--out", folder];
    const { exitCode, output } = await run({ command, folder, timeoutMs: PRINT_MS });
    if (exitCode === 0) return compareSchemas(await readSchemas(folder));
    const message = `Codex did not print its protocol (exit code ${exitCode}): ${output.trim()}`;
    throw new FlintError("agentFailed", message);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs programs in a sandbox, in which they can write nothing but their folder. */
export function runInSandbox(sandbox: Sandbox): RunProgram {
  return async ({ command, folder, timeoutMs }) => {
    let output = "";
    const { exitCode } = await sandbox.launch({
      ...{ command, cwd: folder, workspace: folder, timeoutMs },
      policy: { type: "workspaceWrite" },
      onOutput: (text) => {
        output = (output + text).slice(-2_000);
      },
    });
    return { exitCode, output };
  };
}

async function readSchemas(folder: string): Promise<CodexSchemas> {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
  const [requests, serverRequests, notifications] = await Promise.all([
    read("ClientRequest"),
    read("ServerRequest"),
    read("ServerNotification"),
  ]);
  return { requests, serverRequests, notifications };
}
