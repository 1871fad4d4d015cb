import { setTimeout as pass } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { processorMicroseconds } from "../processes/process-usage.ts";
import { monotonicMicroseconds, type Order, PIECE, stampsIn } from "../programs/order.ts";
import { interleave } from "../report/rounds.ts";
import type { Row } from "../report/row.ts";
import { lowest, quantile } from "../report/statistics.ts";
import type { Relay } from "./relay.ts";

/** A message of this many pieces is a long answer, but one that agents give. */
const PIECES_PER_ITEM = 1000;
const FAST_MODEL = 500;
/** Time after a turn's end whose work still counts as its cost. */
const SETTLE_MS = 50;
const US_PER_MS = 1000;
/** Number of consecutive pieces over which the lag is measured. */
const STRETCH = 250;

/**
 * The compared programs: Flint, the least that could do the same work, and if possible a program in common
 * use for it.
 */
export interface Relays {
  readonly flint: Relay;
  readonly floor: Relay;
  readonly peer?: { readonly name: string; readonly relay: Relay };
}

/** The rows for passing on streamed text; `delta` is what the table calls a piece of it. */
export async function relayRows(bench: Bench, relays: Relays, delta: string): Promise<Row[]> {
  const { flint, floor, peer } = relays;
  for (const relay of [flint, floor, ...(peer === undefined ? [] : [peer.relay])]) await checkText(relay);
  return [...(await fullSpeed(bench, relays, delta)), ...(await atModelSpeed(bench, relays, delta))];
}

/** A figure of a server that loses text would be worth nothing. */
async function checkText(relay: Relay): Promise<void> {
  let length = 0;
  relay.server.onDelta = (line) => {
    length += relay.textOf(line).length;
  };
  const order: Order = { deltas: 5000, items: 5, perSecond: 0 };
  await relay.stream(order);
  relay.server.onDelta = undefined;
  const expected = order.deltas * PIECE.length;
  if (length !== expected) throw new Error(`Of ${expected} characters ${length} arrived.`);
}

async function costPerDelta({ server, stream }: Relay, order: Order): Promise<number> {
  const before = processorMicroseconds(server.pid);
  await stream(order);
  await pass(SETTLE_MS);
  return (processorMicroseconds(server.pid) - before) / order.deltas;
}

async function fullSpeed(bench: Bench, { flint, floor, peer }: Relays, delta: string): Promise<Row[]> {
  const orderOf = (deltas: number): Order => ({ deltas, items: deltas / PIECES_PER_ITEM, perSecond: 0 });
  const order = orderOf(bench.choose(100_000, 10_000));
  const costs = await interleave(bench.choose(9, 2), {
    floor: () => costPerDelta(floor, order),
    flint: () => costPerDelta(flint, order),
    // It takes ten times as long, and a part of the order is enough.
    peer: async () => (peer === undefined ? 0 : costPerDelta(peer.relay, orderOf(order.deltas / 5))),
  });
  const row = {
    figure: `CPU per ${delta}, log on, agent at full speed`,
    value: lowest(costs.flint),
    unit: "µs",
  } as const;
  const least: Row = {
    ...row,
    floor: { name: "plain adapter", value: lowest(costs.floor) },
    target: { of: "ratio", most: 2 },
  };
  if (peer === undefined) return [least];
  const others = { name: peer.name, value: lowest(costs.peer) };
  return [least, { ...row, figure: "… against a peer", floor: others, target: { of: "ratio", most: 0.2 } }];
}

async function atModelSpeed(bench: Bench, { flint, floor }: Relays, delta: string): Promise<Row[]> {
  const order: Order = { deltas: bench.choose(1000, 250), items: 1, perSecond: FAST_MODEL };
  const paces = await interleave(bench.choose(12, 2), {
    floor: () => measurePace(floor, order),
    flint: () => measurePace(flint, order),
  });
  const cheapest = (taken: readonly Pace[], of: keyof Pace) => lowest(taken.map((pace) => pace[of]));
  const best = (of: keyof Pace) => ({
    value: cheapest(paces.flint, of),
    floor: { name: "plain adapter", value: cheapest(paces.floor, of) },
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

/** Cost per piece of one turn at the speed of a model, and the smallest delay of its pieces. */
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
  return { cost, p50: bestStretch(lags, 0.5), p99: bestStretch(lags, 0.99) };
}

/**
 * The lag in the stretch of the turn in which it was lowest. Half a second is long enough for all that Flint does
 * again and again, such as writing its log, and short enough for a busy machine to be quiet meanwhile.
 */
function bestStretch(lags: readonly number[], share: number): number {
  const stretches = Math.max(1, Math.floor(lags.length / STRETCH));
  const starts = Array.from({ length: stretches }, (_, stretch) => stretch * STRETCH);
  return lowest(starts.map((start) => quantile(lags.slice(start, start + STRETCH), share)));
}
