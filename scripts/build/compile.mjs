// Has V8 compile what a start needs, and writes the result beside the code. The command is run for that, because functions
// that a start does not call would only make the cache larger.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WARM_UP = fileURLToPath(new URL("warm-up.cjs", import.meta.url));
const HELLO = { id: 1, method: "initialize", params: { clientInfo: { name: "build", version: "0" } } };
/** Each run adds the functions that it calls. */
const STARTS = [
  { args: [], input: "" },
  { args: ["serve"], input: `${JSON.stringify(HELLO)}\n` },
  { args: ["exec", "--offline", "hello"], input: "" },
];

/** Compiles the command in a folder for the Node version that runs this. */
export async function compileCommand(dist) {
  const home = await mkdtemp(join(tmpdir(), "flint-build-"));
  try {
    for (const start of STARTS) await warmUp(dist, home, start);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function warmUp(dist, home, { args, input }) {
  const child = spawn(process.execPath, [WARM_UP, dist, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, FLINT_HOME: join(home, "state"), TERM: "xterm-256color" },
    stdio: ["pipe", "ignore", "pipe"],
    timeout: 60_000,
  });
  // A process that exits without reading it reports why below.
  child.stdin.on("error", () => {}).end(input);
  const errors = child.stderr.setEncoding("utf8").toArray();
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`flint ${args.join(" ")} failed in the build:\n${(await errors).join("")}`);
}
