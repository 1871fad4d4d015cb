import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { TortureCase } from "../case.ts";
import { count, megabytes, milliseconds } from "../figures.ts";
import { MALFORMED_LINES } from "../malformed-lines.ts";
import { MemoryWatch } from "../memory.ts";

const BURST = 10_000;
const LONGEST = 1_000;
const ONE_MEGABYTE = 1_000_000;

/** Sends very many malformed lines at once. */
export const burst: TortureCase = {
  id: "P02",
  title: "a burst of malformed lines is drained quickly with bounded memory and log",
  async run(context) {
    const log = join(await context.folder(), "stderr");
    const server = await context.start({ kind: "flint", before: `exec 2>"${log}"` });
    await server.expectAlive(context.patience);
    const kinds = MALFORMED_LINES.filter((line) => line.bytes.length < LONGEST);
    const lines = Array.from({ length: BURST }, (_, place) => kinds[place % kinds.length]);
    const expected = lines.filter((line) => line?.code !== undefined).length;
    const memory = new MemoryWatch(server.pid);
    const before = server.wire.lines.length;
    const startedAt = performance.now();
    const sent = server.wire.sendRaw(Buffer.concat(lines.map((line) => line?.bytes ?? Buffer.alloc(0))));
    await server.call("model/list", {});
    const drainedMs = performance.now() - startedAt;
    await sent;
    assert.equal(server.wire.lines.length - before - 1, expected, "answers");
    await server.expectAlive(context.patience);
    const { size } = await stat(log);
    return [
      count("lines", BURST),
      milliseconds("drained in", drainedMs, 2_000),
      megabytes("memory +", memory.growth, 30),
      megabytes("stderr", size / ONE_MEGABYTE, 1),
    ];
  },
};
