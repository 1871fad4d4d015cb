import { FRONTEND_NAMES } from "../../packages/server/src/frontends.ts";
import type { Bench, Figure } from "../bench.ts";
import { DoorClient } from "../door-client.ts";
import { DoorServer } from "../door-server.ts";
import { quantile } from "../statistics.ts";

/** How long an approval that was answered in one client still stands in the others, which are at other doors. */
export const approvalSpread: Figure = {
  name: "approval-spread",
  async measure(bench: Bench) {
    const server = await DoorServer.start(bench, "asking");
    const clients = await Promise.all(FRONTEND_NAMES.map((door) => DoorClient.open(server.place, door)));
    const times = await answerInTurns(clients, bench.choose(100, 20));
    for (const client of clients) client.close();
    await server.end();
    return [
      {
        figure: "an approval is gone in clients of 3 other doors, p50",
        value: quantile(times, 0.5),
        unit: "ms",
      },
      {
        figure: "… and the slowest of all",
        value: quantile(times, 1),
        unit: "ms",
        target: { of: "value", most: 100 },
      },
    ];
  },
};

/** The clients answer in turns. From each answer until the last of the others knows, in milliseconds. */
async function answerInTurns(clients: readonly DoorClient[], count: number): Promise<number[]> {
  const [first] = clients;
  if (first === undefined) throw new Error("There is no door.");
  const cwd = process.cwd();
  const threadId = String(first.words.threadIdOf(await first.ask(first.words.startThread(cwd))));
  for (const client of clients) if (client !== first) await client.ask(client.words.attach(threadId, cwd));
  let asked = questions(clients);
  first.send(first.words.prompt(threadId, String(count)));
  const times: number[] = [];
  for (let place = 0; place < count; place += 1) {
    const open = await asked;
    // What is asked next comes as soon as this is answered.
    asked = questions(clients);
    if (place === count - 1) asked.catch(() => undefined);
    times.push(await answerOne(clients, open, place % clients.length));
  }
  return times;
}

type Message = Awaited<ReturnType<DoorClient["next"]>>;

function questions(clients: readonly DoorClient[]): Promise<Message[]> {
  return Promise.all(clients.map((client) => client.next((message) => client.words.isApproval(message))));
}

async function answerOne(
  clients: readonly DoorClient[],
  open: readonly Message[],
  answering: number,
): Promise<number> {
  const others = clients.map(async (client, place) => {
    const question = open[place];
    if (place === answering || question === undefined) return;
    await client.next((message) => client.words.isWithdrawal(message, question));
  });
  const question = open[answering];
  const startedAt = performance.now();
  if (question !== undefined) clients[answering]?.answer(question);
  await Promise.all(others);
  return performance.now() - startedAt;
}
