import type { Bench, Figure } from "../../bench.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import { type Relay, threadRelay } from "../../relays/relay.ts";
import { relayRows } from "../../relays/relay-rows.ts";

/** Cost of passing on one piece of streamed text, and its delay. */
export const deltaCpu: Figure = {
  name: "delta-cpu",
  async measure(bench: Bench) {
    const flint = await startFlint(bench);
    const floor = startFloor(bench);
    const rows = await relayRows(bench, { flint, floor }, "relayed delta");
    await Promise.all([flint.server.end(), floor.server.end()]);
    return rows;
  },
};

async function startFlint(bench: Bench): Promise<Relay> {
  const server = new WireProcess(bench.server(await bench.newFolder()));
  await server.initialize();
  const { thread } = await server.call("thread/start", { model: "relay/engine" });
  return threadRelay(server, thread.id);
}

function startFloor(bench: Bench): Relay {
  const server = new WireProcess([bench.program("floor-adapter"), bench.program("fake-engine")]);
  return threadRelay(server, "0195f7a2-6d1e-7000-8000-000000000001");
}
