// Records what real servers say in the checks of `flint conformance`, for tests to hold ours against:
//   npx tsx --conditions=@flint/source scripts/record-answers.ts [codex] [acp]
// The programs are those that the setup of the tests finds or fetches (node scripts/test-setup.mjs).
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { agentProgram } from "@flint/testkit";
import { ROOT } from "../test/source/files.ts";

/** The command and the messages to record for each server. */
const RECORDINGS = {
  codex: [agentProgram("codex") ?? "codex", "app-server", "--listen", "ws://127.0.0.1:{port}"],
  acp: [agentProgram("codex-acp") ?? "codex-acp"],
} as const;

function record(frontend: keyof typeof RECORDINGS): number {
  const flint = join(ROOT, "packages/cli/bin/flint.cjs");
  const file = join(ROOT, `test/fixtures/${frontend}-answers.json`);
  const args = [flint, "conformance", "--protocol", frontend, "--offline-model", "--record", file];
  const env = { ...process.env, CODEX_PATH: agentProgram("codex") ?? "codex" };
  const { status } = spawnSync(process.execPath, [...args, "--", ...RECORDINGS[frontend]], {
    env,
    stdio: "inherit",
  });
  return status ?? 1;
}

const requested = process.argv.slice(2);
const unknown = requested.filter((name) => !Object.hasOwn(RECORDINGS, name));
if (unknown.length > 0) {
  console.error(`record-answers takes codex and acp; not ${unknown.join(" ")}.`);
  process.exitCode = 2;
} else {
  const frontends = (["codex", "acp"] as const).filter(
    (frontend) => requested.length === 0 || requested.includes(frontend),
  );
  process.exitCode = frontends.map(record).find((status) => status !== 0) ?? 0;
}
