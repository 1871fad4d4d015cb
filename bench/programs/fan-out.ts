// Streams one turn to several clients of a door in one process and tells the processor time it took, in microseconds.
// Arguments: the folder for its threads, the name of the door, how many clients, and the order for the turn as JSON.
import { ClientConnection } from "@flint/frontends";
import { composeEngine } from "@flint/server";
import { CLIENT_SCRIPTS } from "../../packages/frontends/src/testing/client-scripts.ts";
import { DEFAULT_FRONTEND, FRONTENDS, isFrontendName } from "../../packages/server/src/frontends.ts";
import { burstDriver } from "./burst-driver.ts";
import { DrainingClient } from "./draining-client.ts";
import { type Order, PIECE } from "./order.ts";

const [root = "", name = "", followers, order = ""] = process.argv.slice(2);
const doorName = isFrontendName(name) ? name : DEFAULT_FRONTEND;
const words = CLIENT_SCRIPTS[doorName];
const engine = composeEngine({ root, durability: "relaxed", drivers: [burstDriver] });
const frontend = await FRONTENDS[doorName]();

async function connect(): Promise<DrainingClient> {
  const client = new DrainingClient(words);
  new ClientConnection(frontend, engine, client);
  await client.call(words.initialize);
  return client;
}

/** Streams a turn to all clients of a new thread. */
async function stream(text: string): Promise<void> {
  const first = await connect();
  const threadId = String(words.threadIdOf(await first.call(words.startThread(root))));
  const others = await Promise.all(Array.from({ length: Number(followers) - 1 }, connect));
  for (const other of others) await other.call(words.attach(threadId, root));
  first.send(words.prompt(threadId, text));
  // Where only the one who asked hears of the end, the others have heard everything else by then.
  const told = words.answersAtEnd ? [first] : [first, ...others];
  await Promise.all(told.map((client) => client.turnEnded));
  for (const client of [first, ...others]) expectWhole(client, text);
}

/** Clients that are told less than the text of the turn would cost less, and say nothing. */
function expectWhole({ taken }: DrainingClient, text: string): void {
  // The prompts of measurements are orders.
  const { deltas } = JSON.parse(text) as Order;
  if (taken < deltas * PIECE.length) throw new Error(`A client was told ${taken} characters only.`);
}

await stream(order);
const before = process.cpuUsage();
await stream(order);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${user + system}\n`);
await engine.close();
