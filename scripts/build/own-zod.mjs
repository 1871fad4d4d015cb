// Our schemas use a small part of zod; the libraries for models and tools use all of it. With one copy between them
// every start would read all of it, in fifty languages. So our modules get a copy of their own, without what they
// do not use.
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";

const MARK = "?own";
const ENGLISH = 'export { default as en } from "./en.js";';

/** A copy of zod for the modules below `packages`. Schemas of the two copies must not be mixed; ours never leave. */
export const ownZod = {
  name: "own-zod",
  async resolveId(source, importer) {
    if (importer?.endsWith(MARK)) {
      if (!source.startsWith(".")) return null;
      return resolve(dirname(importer.slice(0, -MARK.length)), source) + MARK;
    }
    if (!source.startsWith("zod/") || !importer?.includes("/packages/")) return null;
    const found = await this.resolve(source, importer, { skipSelf: true });
    return found === null ? null : found.id + MARK;
  },
  async load(id) {
    if (/[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js(\?own)?$/.test(id))
      return { code: ENGLISH, moduleSideEffects: false };
    if (!id.endsWith(MARK)) return null;
    return { code: await readFile(id.slice(0, -MARK.length), "utf8"), moduleSideEffects: false };
  },
};
