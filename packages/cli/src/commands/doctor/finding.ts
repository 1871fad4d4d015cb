import { codexDrift } from "@flint/drivers";
import { CODEX_VERSION } from "@flint/protocol/codex";
import type { FlintClient } from "@flint/sdk";

/** The result of a check. `absent`: something optional is missing. */
export interface Finding {
  readonly name: string;
  readonly state: "ok" | "absent" | "problem";
  readonly detail: string;
  /** How to fix it. */
  readonly fix?: string;
}

/** Checks one thing. Never rejects. */
export type Check = (cwd: string) => Promise<readonly Finding[]>;

/** The message of an error. */
export function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
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
