import { readFile } from "node:fs/promises";
import { replaceFile } from "../state/replace-file.ts";
import { withoutKey, withValue } from "./edit.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { ConfigError, ConfigValues, checkedDocument, parseConfig, parseDocument } from "./parse.ts";
import { policiesOf } from "./policies.ts";
import { nativeOptions } from "./server-config.ts";

/** The user's configuration file. A missing file is empty. */
export class UserConfig {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads it. Throws a ConfigError if it is invalid. */
  async read(): Promise<ConfigValues> {
    const text = await this.#text();
    return text === "" ? new ConfigValues() : parseConfig(text, this.path, "user");
  }

  /**
   * Sets a key and leaves everything else in the file as it is. Throws a ConfigError, and writes nothing, if that would
   * add a problem that the file does not have yet.
   */
  async set(path: readonly string[], value: unknown): Promise<void> {
    const text = await this.#text();
    const next = await withValue(text, path, value, this.path);
    const before = await problemsIn(text, this.path);
    const problem = (await problemsIn(next, this.path)).find((each) => !before.includes(each));
    if (problem !== undefined) throw new ConfigError(problem);
    await replaceFile(this.path, next);
  }

  /** Removes a key; false if the file does not have it. */
  async unset(path: readonly string[]): Promise<boolean> {
    const text = await this.#text();
    const next = await withoutKey(text, path, this.path);
    if (next === undefined) return false;
    await replaceFile(this.path, next);
    return true;
  }

  async #text(): Promise<string> {
    try {
      return await readFile(this.path, "utf8");
    } catch (thrown) {
      if (thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT") return "";
      throw thrown;
    }
  }
}

/** Every problem for which a server would refuse this text as the user's configuration. */
async function problemsIn(text: string, path: string): Promise<readonly string[]> {
  const { values, problems } = checkedDocument(await parseDocument(text, path), "user");
  return [...problems.map(({ problem }) => problem), ...contradictions(values)];
}

/** Values that are valid on their own but contradict each other. A variable that is not set is not such a problem. */
function contradictions(values: ConfigValues): string[] {
  const checks = [
    () => policiesOf(values),
    () => mcpServersOf(values, (text) => text),
    () => nativeOptions(values),
  ];
  return checks.flatMap((check) => {
    // Expected: a ConfigError, which is the result.
    try {
      check();
      return [];
    } catch (thrown) {
      if (thrown instanceof ConfigError) return [thrown.message];
      throw thrown;
    }
  });
}
