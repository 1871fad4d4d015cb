import { createInterface } from "node:readline";
import { endQuietly, readServerOrder } from "../processes/worker-order.ts";
import { AddingServer } from "./adding-server.ts";

// A server that adds tasks and schedules, as a process that may be killed. Argument: the order as JSON. A line on stdin is
// the key of a task to add, answered by the key and the task's id once it is acknowledged, or "check", answered by "checked"
// once its own copies are up to date.
endQuietly("server");
const server = await AddingServer.open(readServerOrder(process.argv[2]));
process.stdout.write("ready\n");
createInterface({ input: process.stdin }).on("line", async (line) => {
  if (line === "check") {
    await server.check();
    process.stdout.write("checked\n");
  } else process.stdout.write(`${line} ${await server.add(line)}\n`);
});
