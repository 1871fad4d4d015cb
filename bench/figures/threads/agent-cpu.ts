import { errorMessage } from "@flint/protocol";
import type { Bench, Figure } from "../../bench.ts";
import { PEER_NAME, startPeer } from "../../processes/acp-peer.ts";
import { WireProcess } from "../../processes/wire-process.ts";
import { type Relay, threadRelay } from "../../relays/relay.ts";
import { relayRows } from "../../relays/relay-rows.ts";
import type { Missing } from "../../report/row.ts";

/** Cost of a real agent's driver for each piece of streamed text, on a program that plays the agent. */
export const agentCpu: Figure = {
  name: "agent-cpu",
  async measure(bench: Bench) {
    const flint = await startFlint(bench);
    const floor = startFloor(bench);
    const peer = await startPeer(bench).catch(notTaken);
    const others = "reason" in peer ? {} : { peer: { name: PEER_NAME, relay: peer } };
    const rows = await relayRows(bench, { flint, floor, ...others }, "delta of Claude");
    const servers = [flint, floor, ...("reason" in peer ? [] : [peer])].map(({ server }) => server);
    await Promise.all(servers.map((server) => server.end()));
    return "reason" in peer ? [...rows, peer] : rows;
  },
};

/** The rest of the figure can be taken without the other program. */
function notTaken(error: unknown): Missing {
  const reason = errorMessage(error);
  return { figure: `CPU per delta of Claude against ${PEER_NAME}`, reason };
}

async function startFlint(bench: Bench): Promise<Relay> {
  const root = await bench.newFolder();
  const server = new WireProcess([bench.program("claude-server"), root, bench.program("fake-claude")]);
  await server.initialize();
  // Not the folder in which Flint keeps the thread: before each turn the files of the workspace are saved.
  const cwd = await bench.newFolder();
  const { thread } = await server.call("thread/start", { model: "claude/default", cwd });
  return threadRelay(server, thread.id);
}

function startFloor(bench: Bench): Relay {
  const server = new WireProcess([bench.program("floor-claude"), bench.program("fake-claude")]);
  return threadRelay(server, "0195f7a2-6d1e-7000-8000-000000000001");
}
