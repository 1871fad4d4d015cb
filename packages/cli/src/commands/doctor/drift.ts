import { type AgentDescriptor, codexDrift } from "@flint/drivers";
import { CODEX_VERSION } from "@flint/protocol/codex";
import type { FlintClient } from "@flint/sdk";
import { versionNumber } from "../agents/programs.ts";
import type { Finding } from "./finding.ts";

const HELP_MS = 10_000;

/**
 * Checks whether an agent has another version than the one that Flint is tested with, and which of the
 * options that Flint uses that version no longer lists.
 */
export async function versionDrift(
  client: FlintClient,
  known: AgentDescriptor | undefined,
  program: string,
  version: string | undefined,
): Promise<readonly Finding[]> {
  const found = versionNumber(version);
  if (known?.package === undefined || found === undefined || found === known.package.version) return [];
  const { id, displayName, usedOptions = [] } = known;
  const tested = known.package.version;
  const fix = `flint agents install ${id} installs ${tested}.`;
  const help = usedOptions.length === 0 ? undefined : await helpOf(client, program);
  const missing = help === undefined ? [] : usedOptions.filter((option) => !lists(help, option));
  if (missing.length === 0) {
    return [{ name: id, state: "absent", detail: `Flint is tested with ${displayName} ${tested}`, fix }];
  }
  const detail = `this version no longer has ${missing.join(", ")}, which Flint needs`;
  return [{ name: id, state: "problem", detail, fix }];
}

/** Returns the output of `--help`; undefined if the program fails or takes too long. */
async function helpOf(client: FlintClient, program: string): Promise<string | undefined> {
  const asked = client.call("command/exec", { command: [program, "--help"], timeoutMs: HELP_MS });
  const answer = await asked.catch(() => undefined);
  return answer?.exitCode === 0 ? `${answer.stdout}${answer.stderr}` : undefined;
}

function lists(help: string, option: string): boolean {
  return help.split(/[^\w-]+/).includes(option);
}

/** Further findings would not help the reader. */
const MAX_FINDINGS = 20;

/**
 * Each part of the Codex protocol that Flint uses and that this version of Codex no longer has, or has in another form.
 * The program prints its schemas in the sandbox, with one writable folder and no network. Older versions cannot print
 * them, which is not a problem.
 */
export async function driftFindings(
  client: FlintClient,
  program: readonly string[],
): Promise<readonly Finding[]> {
  const changes = await codexDrift(program, async ({ command, folder, timeoutMs }) => {
    const sandboxPolicy = { type: "workspaceWrite" as const };
    const asked = { command: [...command], cwd: folder, sandboxPolicy, timeoutMs };
    const { exitCode, stdout, stderr } = await client.call("command/exec", asked);
    return { exitCode, output: `${stdout}${stderr}` };
  }).catch(() => undefined);
  if (changes === undefined) {
    const detail = `cannot compare its protocol with that of Codex ${CODEX_VERSION}, which Flint supports`;
    return [{ name: "codex", state: "absent", detail }];
  }
  return changes.slice(0, MAX_FINDINGS).map(
    (change): Finding => ({
      ...{ name: "codex", state: "problem", detail: change },
      fix: `Flint supports Codex ${CODEX_VERSION}: npm install -g @openai/codex@${CODEX_VERSION}`,
    }),
  );
}
