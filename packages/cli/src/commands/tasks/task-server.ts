import type { TaskRow } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { stateFolder } from "@flint/server/environment";
import { UsageError } from "../../command-line/command.ts";
import { DEFAULT_IDLE_SECONDS } from "../../command-line/flags.ts";

/** Runs something against the shared server, which runs the tasks; starts one in the background if none runs. */
export async function withTaskServer<Value>(use: (client: FlintClient) => Promise<Value>): Promise<Value> {
  const client = await taskClient();
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

async function taskClient(): Promise<FlintClient> {
  const { connectShared, startAndConnect } = await import("@flint/server/single-instance");
  const [folder, cwd] = [stateFolder(), process.cwd()];
  const joined = await connectShared({ folder, cwd, sameSettings: false });
  if (joined.client !== undefined) return joined.client;
  if (joined.reason !== undefined) throw new Error(`The running server cannot be used: ${joined.reason}`);
  const flint = [process.execPath, ...process.execArgv, ...process.argv.slice(1, 2)];
  const started = await startAndConnect(
    { folder, flint, idleSeconds: DEFAULT_IDLE_SECONDS, cwd },
    { protocol: "flint", cwd },
  );
  if (!started.ok) throw new Error(started.reason);
  // It accepts clients now; this connection was only to see that.
  started.socket.destroy();
  const again = await connectShared({ folder, cwd, sameSettings: false });
  if (again.client !== undefined) return again.client;
  throw new Error(`The server that was started cannot be used: ${again.reason ?? "it has exited"}`);
}

/** The task with a number, as people write it: `7` or `#7`. */
export async function findTask(client: FlintClient, text: string): Promise<TaskRow> {
  const number = Number(text.replace(/^#/, ""));
  if (!Number.isInteger(number) || number < 1)
    throw new UsageError(`${JSON.stringify(text)} is not the number of a task.`);
  const { data } = await client.call("task/list", {});
  const found = data.find((task) => task.number === number);
  if (found === undefined)
    throw new UsageError(`There is no task ${number}. flint tasks list --all shows all tasks.`);
  return found;
}
