import { join } from "node:path";
import type { CodexHost } from "@flint/frontends/codex";
import { stateFolder, userConfigPath } from "../config/environment.ts";
import { PreferencesFile } from "./preferences-file.ts";
import { readableFile } from "./readable-file.ts";

/** This machine, as far as clients of the Codex front end may look at it. Touches nothing before it is asked. */
export function codexHost(home: string = stateFolder()): CodexHost {
  const file = new PreferencesFile(join(home, "codex-preferences.json"));
  const own = [home, userConfigPath()];
  return {
    home,
    preferences: async () => ({ ...(await file.read()), filePath: file.path }),
    remember: async (edits, expected) => ({ ...(await file.write(edits, expected)), filePath: file.path }),
    readFile: (path) => readableFile(path, own),
    findFiles: async (query, roots, signal) => {
      const { findFiles } = await import("./file-finder.ts");
      return findFiles(query, roots, signal);
    },
  };
}
