import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import type { AgentProgram } from "../shared/agent-options.ts";
import { compareWords, type GeneratedWords } from "./drift-report.ts";

const PRINTS_WITHIN_MS = 20_000;

/**
 * Compares what the installed Codex prints about its own words with the words that Flint speaks, and names each one
 * that is gone or has changed, in sentences. Rejects if this Codex cannot print them.
 */
export async function codexDrift(program: AgentProgram, sandbox: Sandbox): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "flint-codex-words-"));
  try {
    await print(program, sandbox, folder);
    return compareWords(await readWords(folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function print({ command }: AgentProgram, sandbox: Sandbox, folder: string): Promise<void> {
  let said = "";
  const { exitCode } = await sandbox.launch({
    command: [...command, "app-server", "generate-json-schema", "--experimental", "--out", folder],
    cwd: folder,
    workspace: folder,
    policy: { type: "dangerFullAccess" },
    timeoutMs: PRINTS_WITHIN_MS,
    output: (text) => {
      said = (said + text).slice(-2_000);
    },
  });
  if (exitCode === 0) return;
  throw new FlintError(
    "agentFailed",
    `Codex did not print its protocol (exit code ${exitCode}): ${said.trim()}`,
  );
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
