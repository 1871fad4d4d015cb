import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { FlintError } from "@flint/protocol";
import type { AgentOptions, AgentProgram } from "../shared/agent-options.ts";

/** What is started when Codex is needed: its app server, in the form that talks by lines. */
export async function codexLaunch(options: AgentOptions): Promise<AgentProgram> {
  const program = await options.program();
  if (program === undefined) throw notFound();
  const { flags, environment } = await offline(options);
  return {
    command: [...program.command, "app-server", ...flags],
    environment: { NO_COLOR: "1", ...program.environment, ...environment },
  };
}

function notFound(): FlintError {
  return new FlintError(
    "agentFailed",
    "Codex is not on this machine. Install it with `npm install -g @openai/codex`, or say in CODEX_EXECUTABLE where it is.",
  );
}

/** Points Codex to the offline model, away from the user's account and settings. */
async function offline({ offlineModel, stateFolder }: AgentOptions) {
  if (offlineModel === undefined) return { flags: [], environment: {} };
  // Without retries of single requests every second try is one that Codex tells of.
  const provider = `{name="flint",base_url=${JSON.stringify(`${await offlineModel()}/v1`)},wire_api="responses",request_max_retries=0}`;
  const flags = ["-c", "model_provider=flint", "-c", `model_providers.flint=${provider}`];
  if (stateFolder === undefined) return { flags, environment: {} };
  const home = join(stateFolder, "codex");
  await mkdir(home, { recursive: true, mode: 0o700 });
  return { flags, environment: { CODEX_HOME: home } };
}
