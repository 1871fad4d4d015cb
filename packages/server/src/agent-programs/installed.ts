import { access, constants, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord } from "@flint/protocol";
import { stateFolder } from "../config/environment.ts";

/** An agent that `flint agents install` has installed. */
export interface InstalledAgent {
  readonly version: string;
  /** The absolute path of its program. */
  readonly path: string;
}

const RECORD = "flint-agent.json";

/** The folder with the agents that Flint installed. It is in the state folder, where no sandboxed command can write. */
export function programsFolder(): string {
  return join(stateFolder(), "programs");
}

/** The content of the file that describes an installed agent. */
export function installedRecord(version: string, file: string): string {
  return `${JSON.stringify({ version, file })}\n`;
}

/** The path of that file. */
export function recordPath(folder: string): string {
  return join(folder, RECORD);
}

/** The agent with this id, if Flint installed it and its program is still there. */
export async function installedAgent(id: string): Promise<InstalledAgent | undefined> {
  const folder = join(programsFolder(), id);
  // Expected: it is not installed, or the installation was damaged.
  try {
    const record: unknown = JSON.parse(await readFile(recordPath(folder), "utf8"));
    if (!isRecord(record) || typeof record.version !== "string" || typeof record.file !== "string") {
      return undefined;
    }
    const path = join(folder, "node_modules", record.file);
    await access(path, constants.X_OK);
    return { version: record.version, path };
  } catch {
    return undefined;
  }
}
