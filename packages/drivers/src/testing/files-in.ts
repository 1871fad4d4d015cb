import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** All plain files below a folder, with what they hold. */
export function filesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const plain = names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
  return Object.fromEntries(plain.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
