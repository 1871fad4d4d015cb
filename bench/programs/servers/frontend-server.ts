// A server of Flint with all its front ends on a port, and agents made for measurements. Its own input and output are for
// the benchmark: "url" is answered with the listening address, "held" with the memory that cannot be freed.
// Arguments: the folder for its threads, and `burst` or `asking` for its agent. Needs --expose-gc.
import { createInterface } from "node:readline";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import { composeEngine } from "@flint/server";
import { DEFAULT_FRONTEND, Frontends, ROOT_FRONTEND } from "../../../packages/server/src/frontends.ts";
import { Listening } from "../../../packages/server/src/serve/listening.ts";
import { askingDriver } from "../agents/asking-driver.ts";
import { burstDriver } from "../agents/burst-driver.ts";

const BYTES_PER_MEGABYTE = 1024 * 1024;

const [root = "", agent] = process.argv.slice(2);
const drivers = [agent === "asking" ? askingDriver : burstDriver];
const engine = composeEngine({ root, drivers, approvalPolicy: "always" });
const listening = await Listening.start(
  new Frontends(engine),
  {
    addresses: [{ kind: "webSocket", host: "127.0.0.1", port: 0 }],
    protocol: DEFAULT_FRONTEND,
    root: ROOT_FRONTEND,
    token: undefined,
    allowOrigins: [],
    allowHosts: [],
    presence: undefined,
  },
  SYSTEM_CLOCK,
);

/** Memory in MB after garbage collection. */
function held(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / BYTES_PER_MEGABYTE;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const result = method === "url" ? listening.listeners[0]?.address : held();
  process.stdout.write(`${JSON.stringify({ id, result })}\n`);
}
process.exit();
