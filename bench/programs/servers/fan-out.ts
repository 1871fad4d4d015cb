// Streams one turn to several clients of a front end in one process and prints the CPU time it took, in microseconds.
// Arguments: the folder for its threads, the name of the front end, how many clients, and the description of the turn as JSON.
import { ClientConnection } from "@flint/frontends";
import { composeEngine } from "@flint/server";
import { CLIENT_SCRIPTS } from "../../../packages/frontends/src/testing/client-scripts.ts";
import { DEFAULT_FRONTEND, FRONTENDS, isFrontendName } from "../../../packages/server/src/frontends.ts";
import { burstDriver } from "../agents/burst-driver.ts";
import { type Order, PIECE } from "../order.ts";
import { DrainingClient } from "./draining-client.ts";

const [root = "", name = "", clients, order = ""] = process.argv.slice(2);
const frontendName = isFrontendName(name) ? name : DEFAULT_FRONTEND;
const script = CLIENT_SCRIPTS[frontendName];
const engine = composeEngine({ root, durability: "relaxed", drivers: [burstDriver] });
const frontend = await FRONTENDS[frontendName]();

async function connect(): Promise<DrainingClient> {
  const client = new DrainingClient(script);
  new ClientConnection(frontend, engine, client);
  await client.call(script.initialize);
  return client;
}

/** Streams a turn to all clients of a new thread. */
async function stream(text: string): Promise<void> {
  const first = await connect();
  const threadId = String(script.threadIdOf(await first.call(script.startThread(root))));
  const others = await Promise.all(Array.from({ length: Number(clients) - 1 }, connect));
  for (const other of others) await other.call(script.attach(threadId, root));
  first.send(script.prompt(threadId, text));
  // Where only the requesting client receives the end, the others have received everything else by then.
  const notified = script.answersAtEnd ? [first] : [first, ...others];
  await Promise.all(notified.map((client) => client.turnEnded));
  for (const client of [first, ...others]) expectWhole(client, text);
}

/** Fails if a client received less than the whole text, which would make the figure too low. */
function expectWhole({ taken }: DrainingClient, text: string): void {
  // The prompts of measurements are orders.
  const { deltas } = JSON.parse(text) as Order;
  if (taken < deltas * PIECE.length) throw new Error(`A client received only ${taken} characters.`);
}

await stream(order);
const before = process.cpuUsage();
await stream(order);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${user + system}\n`);
await engine.close();
