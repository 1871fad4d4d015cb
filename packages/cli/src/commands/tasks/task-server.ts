import type { TaskRow } from "@flint/protocol";
import { type FlintClient, FlintConnectionError, FlintRequestError } from "@flint/sdk";
import { stateFolder } from "@flint/server/environment";
import { UsageError } from "../../command-line/command.ts";
import { DEFAULT_IDLE_SECONDS } from "../../command-line/flags.ts";
import { printError } from "../../command-line/output.ts";

/** Runs something against the shared server, which runs the tasks; starts one in the background if none runs. */
export async function withTaskServer<Value>(use: (client: FlintClient) => Promise<Value>): Promise<Value> {
  const client = await taskClient();
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** Finds the next server for a client that follows tasks. */
export interface NextServer {
  /** A client of the running server; undefined if none runs. */
  join(): Promise<FlintClient | undefined>;
  /** Resolves after a while. */
  pause(): Promise<void>;
}

const JOIN_MS = 500;
/** Attempts to join the next server: enough for a minute. */
const JOIN_TRIES = 120;

const NEXT_SERVER: NextServer = {
  join: async () => (await joinServer()).client,
  pause: () => new Promise((resolve) => setTimeout(resolve, JOIN_MS)),
};

/**
 * Follows tasks on the shared server, and on the next one if that stops. It starts none then, because someone may have stopped
 * it on purpose, and waits a minute for one.
 */
export async function followTasks<Value>(
  use: (client: FlintClient) => Promise<Value>,
  first: () => Promise<FlintClient> = taskClient,
  next = NEXT_SERVER,
): Promise<Value> {
  for (let client = await first(); ; client = await nextClient(next)) {
    try {
      return await use(client);
    } catch (thrown) {
      if (!hasStopped(thrown)) throw thrown;
      printError("The server stopped. Waiting for the next one, with which the tasks continue.", 0);
    } finally {
      await client.close();
    }
  }
}

async function nextClient({ join, pause }: NextServer): Promise<FlintClient> {
  for (let attempt = 0; attempt < JOIN_TRIES; attempt += 1) {
    await pause();
    const client = await join();
    if (client !== undefined) return client;
  }
  throw new Error("The server stopped, and no other one was started. flint tasks watch starts one.");
}

/** Reports whether a request failed because its server stops or is gone. */
function hasStopped(thrown: unknown): boolean {
  if (thrown instanceof FlintConnectionError) return thrown.kind === "closed" || thrown.kind === "exited";
  return (
    thrown instanceof FlintRequestError && thrown.kind === "overloaded" && /stopping/.test(thrown.message)
  );
}

async function joinServer() {
  const { connectShared } = await import("@flint/server/single-instance");
  return connectShared({ folder: stateFolder(), cwd: process.cwd(), sameSettings: false });
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
