import type { FlintClient } from "@flint/sdk";
import { embed } from "@flint/server/embed";
import { complain } from "../command-line/output.ts";
import { type PlacedOptions, type ServerFlagValues, serverOptions } from "../command-line/server-options.ts";

/** Runs something against a server in this process, with the user's configuration, and closes the server. */
export async function withServer<Value>(
  use: (client: FlintClient) => Promise<Value>,
  values: ServerFlagValues = {},
): Promise<Value> {
  return withOptions(await serverOptions(values), use);
}

/** As `withServer`, for commands that only manage stored data: an invalid configuration is reported and ignored. */
export async function withStoredData<Value>(use: (client: FlintClient) => Promise<Value>): Promise<Value> {
  return withOptions(await tolerantOptions(), use);
}

async function tolerantOptions(): Promise<PlacedOptions> {
  try {
    return await serverOptions({});
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== "ConfigError") throw thrown;
    complain(`${thrown.message}\nIgnoring the configuration here; fix it before you run flint exec.`, 0);
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
