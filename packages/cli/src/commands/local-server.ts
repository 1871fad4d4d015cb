import type { FlintClient } from "@flint/sdk";
import { embed } from "@flint/server/embed";
import { type PlacedOptions, type ServerFlagValues, serverOptions } from "../command-line/arguments.ts";
import { complain } from "../command-line/output.ts";

/** Does something with a server of this process, as the user configured it, and ends the server. */
export async function withServer<Value>(
  use: (client: FlintClient) => Promise<Value>,
  values: ServerFlagValues = {},
): Promise<Value> {
  return withOptions(await serverOptions(values), use);
}

/** As `withServer`, for what only looks after stored things: a configuration with a fault does not stand in the way. */
export async function withStoredThings<Value>(use: (client: FlintClient) => Promise<Value>): Promise<Value> {
  return withOptions(await tolerantOptions(), use);
}

async function tolerantOptions(): Promise<PlacedOptions> {
  try {
    return await serverOptions({});
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== "ConfigError") throw thrown;
    complain(`${thrown.message}\nThe configuration is left out here; exec needs it put right.`, 0);
    return { cwd: process.cwd() };
  }
}

async function withOptions<Value>(
  options: PlacedOptions,
  use: (client: FlintClient) => Promise<Value>,
): Promise<Value> {
  const embedded = await embed(options);
  try {
    return await use(embedded.client);
  } finally {
    await embedded.close();
  }
}
