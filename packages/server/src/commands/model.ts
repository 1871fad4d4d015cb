import { once } from "node:events";
import { resolve } from "node:path";
import { noArguments, UsageError } from "./arguments.ts";

interface ServeArguments {
  readonly values: { readonly port?: string | undefined; readonly script?: string | undefined };
  readonly positionals: readonly string[];
}

/** `flint model serve`: the offline model over HTTP for programs on this machine, until a signal ends it. */
export async function serveModel({ values, positionals }: ServeArguments): Promise<number> {
  noArguments("model serve", positionals);
  const port = portOf(values.port);
  const script = values.script === undefined ? undefined : resolve(values.script);
  const { ModelServer } = await import("@flint/drivers/model-server");
  const server = await ModelServer.start({ port, script });
  const stopping = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  process.stdout.write(`listening on ${server.url}\n`);
  await stopping;
  await server.close();
  return 0;
}

function portOf(text = "0"): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port takes a number from 0 (any free one) to 65535; not ${JSON.stringify(text)}.`);
}
