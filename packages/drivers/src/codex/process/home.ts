import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type AgentPaths, agentPaths, CODEX_FOLDER, placeOf } from "../../shared/agent-folders.ts";

/** Codex does not start where it cannot write its own name, and it cannot make the file for good where it is confined. */
const NAME_FILE = "installation_id";

/** The home of a Codex that is confined as a whole; what it has to write is made if need be. */
export async function confinedHome(environment: Readonly<Record<string, string>>): Promise<AgentPaths> {
  const home = environment.HOME ?? homedir();
  const paths = await agentPaths([CODEX_FOLDER], environment, home);
  const file = join(placeOf(CODEX_FOLDER, environment, home), NAME_FILE);
  // Expected: a Codex that has been used before has a name already.
  await writeFile(file, randomUUID(), { flag: "wx", mode: 0o600 }).catch(() => undefined);
  return paths;
}
