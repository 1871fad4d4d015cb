import { FRONTEND_NAMES, type FrontendName } from "../../../packages/server/src/frontends.ts";
import type { Bench, Figure } from "../../bench.ts";
import { runForNumber } from "../../processes/child.ts";
import type { Order } from "../../programs/order.ts";
import { interleave } from "../../report/rounds.ts";
import type { Row } from "../../report/row.ts";
import { lowest } from "../../report/statistics.ts";

const US_PER_MS = 1000;

/** Cost of sending the same turn to ten clients of a front end instead of one. */
export const fanOut: Figure = {
  name: "fan-out",
  async measure(bench: Bench) {
    const rows: Row[] = [];
    for (const frontend of FRONTEND_NAMES) rows.push(await measureFrontend(bench, frontend));
    return rows;
  },
};

async function measureFrontend(bench: Bench, frontend: FrontendName): Promise<Row> {
  const deltas = bench.choose(50_000, 5_000);
  const order: Order = { deltas, items: deltas / 1000, perSecond: 0 };
  const stream = async (subscribers: number): Promise<number> => {
    const root = await bench.newFolder();
    return runForNumber([
      bench.program("fan-out"),
      root,
      frontend,
      String(subscribers),
      JSON.stringify(order),
    ]);
  };
  const costs = await interleave(bench.choose(5, 1), { ten: () => stream(10), one: () => stream(1) });
  return {
    figure: `CPU of a turn with 10 clients at the ${frontend} front end`,
    value: lowest(costs.ten) / US_PER_MS,
    unit: "ms",
    floor: { name: "with 1 client", value: lowest(costs.one) / US_PER_MS },
    target: { of: "ratio", most: 3 },
  };
}
