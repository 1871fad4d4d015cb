import { setTimeout as pass } from "node:timers/promises";
import type { Bench, Figure } from "../bench.ts";
import { processorMicroseconds } from "../process-usage.ts";
import { monotonicMicroseconds, type Order, PIECE, stampsIn } from "../programs/order.ts";
import { interleave } from "../rounds.ts";
import type { Row } from "../row.ts";
import { lowest, quantile } from "../statistics.ts";
import { deltaOf, streamTurn } from "../stream-turn.ts";
import { WireProcess } from "../wire-process.ts";

/** A message of this many pieces is a long answer, but one that agents give. */
const PIECES_PER_ITEM = 1000;
const FAST_MODEL = 500;
/** What a turn leaves to be done after its end belongs to its cost. */
const AFTERMATH_MS = 50;
const US_PER_MS = 1000;

/** A server in between an agent and a client, with a thread to talk in. */
export interface Relay {
  readonly server: WireProcess;
  readonly threadId: string;
}

/** What it costs to pass on one piece of streamed text, and how much later it arrives. */
export const deltaCpu: Figure = {
  name: "delta-cpu",
  async measure(bench: Bench) {
    const flint = await startFlint(bench);
    const floor = await startFloor(bench);
    const rows = await relayRows(bench, flint, floor, "relayed delta");
    await Promise.all([flint.server.end(), floor.server.end()]);
    return rows;
  },
};

/** The rows for a server and the least that could do its work; `delta` is what the table calls a piece of text. */
export async function relayRows(bench: Bench, flint: Relay, floor: Relay, delta: string): Promise<Row[]> {
  await checkText(flint);
  await checkText(floor);
  return [await fullSpeed(bench, flint, floor, delta), ...(await atModelSpeed(bench, flint, floor, delta))];
}

async function startFlint(bench: Bench): Promise<Relay> {
  const server = new WireProcess(bench.server(await bench.newFolder()));
  await server.initialize();
  const { thread } = await server.call("thread/start", { model: "relay/engine" });
  return { server, threadId: thread.id };
}

async function startFloor(bench: Bench): Promise<Relay> {
  const server = new WireProcess([bench.program("floor-adapter"), bench.program("fake-engine")]);
  return { server, threadId: "0195f7a2-6d1e-7000-8000-000000000001" };
}

/** A figure of a server that loses text would be worth nothing. */
async function checkText({ server, threadId }: Relay): Promise<void> {
  let length = 0;
  server.onDelta = (line) => {
    length += deltaOf(line).delta.length;
  };
  const order: Order = { deltas: 5000, items: 5, perSecond: 0 };
  await streamTurn(server, threadId, order);
  server.onDelta = undefined;
  const expected = order.deltas * PIECE.length;
  if (length !== expected) throw new Error(`Of ${expected} characters ${length} arrived.`);
}

async function costPerDelta({ server, threadId }: Relay, order: Order): Promise<number> {
  const before = processorMicroseconds(server.pid);
  await streamTurn(server, threadId, order);
  await pass(AFTERMATH_MS);
  return (processorMicroseconds(server.pid) - before) / order.deltas;
}

async function fullSpeed(bench: Bench, flint: Relay, floor: Relay, delta: string): Promise<Row> {
  const deltas = bench.choose(100_000, 10_000);
  const order: Order = { deltas, items: deltas / PIECES_PER_ITEM, perSecond: 0 };
  const costs = await interleave(bench.choose(9, 2), {
    floor: () => costPerDelta(floor, order),
    flint: () => costPerDelta(flint, order),
  });
  return {
    figure: `CPU per ${delta}, log on, agent at full speed`,
    value: lowest(costs.flint),
    unit: "µs",
    floor: { name: "plain adapter", value: lowest(costs.floor) },
    target: { of: "ratio", most: 2 },
  };
}

async function atModelSpeed(bench: Bench, flint: Relay, floor: Relay, delta: string): Promise<Row[]> {
  const order: Order = { deltas: bench.choose(1000, 250), items: 1, perSecond: FAST_MODEL };
  const paces = await interleave(bench.choose(6, 2), {
    floor: () => measurePace(floor, order),
    flint: () => measurePace(flint, order),
  });
  const best = (of: keyof Pace) => ({
    value: lowest(paces.flint.map((pace) => pace[of])),
    floor: { name: "plain adapter", value: lowest(paces.floor.map((pace) => pace[of])) },
  });
  return [
    {
      figure: `CPU per ${delta}, log on, at 500 a second`,
      ...best("cost"),
      unit: "µs",
      target: { of: "ratio", most: 2 },
    },
    {
      figure: `lag of a ${delta} at 500 a second, p50`,
      ...best("p50"),
      unit: "ms",
      target: { of: "value", most: 1 },
    },
    {
      figure: `lag of a ${delta} at 500 a second, p99`,
      ...best("p99"),
      unit: "ms",
      target: { of: "ratio", most: 1.5 },
    },
  ];
}

/** What one turn at the speed of a model cost per piece, and how late its pieces were. */
interface Pace {
  readonly cost: number;
  readonly p50: number;
  readonly p99: number;
}

async function measurePace(relay: Relay, order: Order): Promise<Pace> {
  const lags: number[] = [];
  relay.server.onDelta = (line) => {
    const now = monotonicMicroseconds();
    for (const stamp of stampsIn(line)) lags.push((now - stamp) / US_PER_MS);
  };
  const cost = await costPerDelta(relay, order);
  relay.server.onDelta = undefined;
  return { cost, p50: quantile(lags, 0.5), p99: quantile(lags, 0.99) };
}
