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
  const { ModelServer } = await import("@flint/offline-model/http");
  const server = await ModelServer.start({ port, script }).catch((thrown: unknown) => {
    throw portProblem(thrown, port);
  });
  const stopping = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  process.stdout.write(`listening on ${server.url}\n`);
  await stopping;
  await server.close();
  return 0;
}

/** A port that cannot be had is told in words; everything else as it is. */
function portProblem(thrown: unknown, port: number): unknown {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const other = "Choose another with --port, or leave it out for a free one.";
  if (code === "EADDRINUSE")
    return new Error(`Port ${port} is used by another program. ${other}`, { cause: thrown });
  if (code === "EACCES") return new Error(`Port ${port} is not open to you. ${other}`, { cause: thrown });
  return thrown;
}

function portOf(text = "0"): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new UsageError(`--port takes a number from 0 (any free one) to 65535; not ${JSON.stringify(text)}.`);
}
