import { FRONTEND_NAMES } from "../../../packages/server/src/frontends.ts";
import type { Bench, Figure } from "../../bench.ts";
import { FrontendClient } from "../../processes/frontend-client.ts";
import { FrontendServer } from "../../processes/frontend-server.ts";
import { quantile } from "../../report/statistics.ts";

/** Time for which an approval answered in one client stays open in clients of the other front ends. */
export const approvalSpread: Figure = {
  name: "approval-spread",
  async measure(bench: Bench) {
    const server = await FrontendServer.start(bench, "asking");
    const clients = await Promise.all(
      FRONTEND_NAMES.map((frontend) => FrontendClient.open(server.url, frontend)),
    );
    const times = await answerInTurns(clients, bench.choose(100, 20));
    for (const client of clients) client.close();
    await server.end();
    return [
      {
        figure: "an approval is gone in clients of 3 other front ends, p50",
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
async function answerInTurns(clients: readonly FrontendClient[], count: number): Promise<number[]> {
  const [first] = clients;
  if (first === undefined) throw new Error("There is no front end.");
  const cwd = process.cwd();
  const threadId = String(first.script.threadIdOf(await first.ask(first.script.startThread(cwd))));
  for (const client of clients) if (client !== first) await client.ask(client.script.attach(threadId, cwd));
  let asked = questions(clients);
  first.send(first.script.prompt(threadId, String(count)));
  const times: number[] = [];
  for (let url = 0; url < count; url += 1) {
    const open = await asked;
    // What is asked next comes as soon as this is answered.
    asked = questions(clients);
    if (url === count - 1) asked.catch(() => undefined);
    times.push(await answerOne(clients, open, url % clients.length));
  }
  return times;
}

type Message = Awaited<ReturnType<FrontendClient["next"]>>;

function questions(clients: readonly FrontendClient[]): Promise<Message[]> {
  return Promise.all(clients.map((client) => client.next((message) => client.script.isApproval(message))));
}

async function answerOne(
  clients: readonly FrontendClient[],
  open: readonly Message[],
  answering: number,
): Promise<number> {
  const others = clients.map(async (client, url) => {
    const question = open[url];
    if (url === answering || question === undefined) return;
    await client.next((message) => client.script.isWithdrawal(message, question));
  });
  const question = open[answering];
  const startedAt = performance.now();
  if (question !== undefined) clients[answering]?.answer(question);
  await Promise.all(others);
  return performance.now() - startedAt;
}
