import type { Bench, Figure } from "../bench.ts";
import { WireProcess } from "../wire-process.ts";
import { type Relay, relayRows } from "./delta-cpu.ts";

/** What the driver of a real agent costs for each piece of streamed text, on a program that plays the agent. */
export const agentCpu: Figure = {
  name: "agent-cpu",
  async measure(bench: Bench) {
    const flint = await startFlint(bench);
    const floor = await startFloor(bench);
    const rows = await relayRows(bench, flint, floor, "delta of Claude");
    await Promise.all([flint.server.end(), floor.server.end()]);
    return rows;
  },
};

async function startFlint(bench: Bench): Promise<Relay> {
  const root = await bench.newFolder();
  const server = new WireProcess([bench.program("claude-server"), root, bench.program("fake-claude")]);
  await server.initialize();
  const { thread } = await server.call("thread/start", { model: "claude/default", cwd: root });
  return { server, threadId: thread.id };
}

async function startFloor(bench: Bench): Promise<Relay> {
  const server = new WireProcess([bench.program("floor-claude"), bench.program("fake-claude")]);
  return { server, threadId: "0195f7a2-6d1e-7000-8000-000000000001" };
}
