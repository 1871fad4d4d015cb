// Streams one turn to several clients in one process and tells the processor time it took, in microseconds.
// Arguments: the folder for its threads, how many clients, and the order for the turn as JSON.
import { Door } from "@flint/dialects";
import { flintDialect } from "@flint/dialects/flint";
import { METHODS } from "@flint/protocol";
import { composeEngine } from "@flint/server";
import { burstDriver } from "./burst-driver.ts";
import { DrainingClient } from "./draining-client.ts";

const [root, followers, order = ""] = process.argv.slice(2);
const engine = composeEngine({ root, durability: "relaxed", drivers: [burstDriver] });
const door = new Door(flintDialect);

async function connect(): Promise<DrainingClient> {
  const client = new DrainingClient();
  door.connect(engine, client);
  await client.call("initialize", { clientInfo: { name: "bench", version: "0" } });
  return client;
}

/** Streams a turn to all clients of a new thread. */
async function stream(text: string): Promise<void> {
  const first = await connect();
  const { thread } = METHODS["thread/start"].result.parse(await first.call("thread/start", {}));
  const others = await Promise.all(Array.from({ length: Number(followers) - 1 }, connect));
  for (const other of others) await other.call("thread/attach", { threadId: thread.id });
  await first.call("turn/start", { threadId: thread.id, input: [{ type: "text", text }] });
  await Promise.all([first, ...others].map((client) => client.turnEnded));
}

await stream(order);
const before = process.cpuUsage();
await stream(order);
const { user, system } = process.cpuUsage(before);
process.stdout.write(`${user + system}\n`);
await engine.close();
