import type { FlintClient } from "@flint/sdk";
import { embed } from "../embed.ts";
import { type ServerFlagValues, serverOptions } from "./arguments.ts";

/** Does something with a server of this process, as the user configured it, and ends the server. */
export async function withServer<Value>(
  use: (client: FlintClient) => Promise<Value>,
  values: ServerFlagValues = {},
): Promise<Value> {
  const embedded = await embed(await serverOptions(values));
  try {
    return await use(embedded.client);
  } finally {
    await embedded.close();
  }
}
