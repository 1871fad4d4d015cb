import { readFile } from "node:fs/promises";
import { replaceWhole } from "../replace-file.ts";
import { ConfigValues } from "./config-values.ts";
import { withoutKey, withValue } from "./edit.ts";
import { faultsIn } from "./faults.ts";
import { ConfigError, parseConfig } from "./parse.ts";

/** The user's own configuration file. One that does not exist says nothing. */
export class UserConfig {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** What it says. Throws a ConfigError for a file with a fault in it. */
  async read(): Promise<ConfigValues> {
    const text = await this.#text();
    return text === "" ? new ConfigValues() : parseConfig(text, this.path, "user");
  }

  /**
   * Sets a key; everything else in the file stays as it was written. Throws a ConfigError, and writes nothing, if the
   * file would have a fault that it did not have before.
   */
  async set(path: readonly string[], value: unknown): Promise<void> {
    const text = await this.#text();
    const next = await withValue(text, path, value, this.path);
    const before = await faultsIn(text, this.path);
    const fault = (await faultsIn(next, this.path)).find((each) => !before.includes(each));
    if (fault !== undefined) throw new ConfigError(fault);
    await replaceWhole(this.path, next);
  }

  /** Takes a key out; false if it was not in the file. */
  async unset(path: readonly string[]): Promise<boolean> {
    const text = await this.#text();
    const next = await withoutKey(text, path, this.path);
    if (next === undefined) return false;
    await replaceWhole(this.path, next);
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
