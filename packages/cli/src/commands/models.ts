import { once } from "node:events";
import { resolve } from "node:path";
import type { Model } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { visible } from "@flint/view";
import { noArguments, UsageError } from "../command-line/arguments.ts";
import { columns, say, sayJson } from "../command-line/output.ts";
import { withServer } from "./local-server.ts";

interface ModelsArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** The model of new threads, or why there is none. */
type Chosen = { readonly id: string } | { readonly problem: string };

/** `flint models`: what threads can use, the default marked. */
export async function models({ values, positionals }: ModelsArguments): Promise<number> {
  noArguments("models", positionals);
  const { list, chosen } = await withServer(async (client) => {
    const [list, chosen] = await Promise.all([client.models(), chosenModel(client)]);
    return { list, chosen };
  });
  if (values.json === true) return sayJson(list);
  const another = "Another: flint exec --model MODEL, or for always:\n  flint config set model MODEL\n";
  if ("problem" in chosen) {
    const problem = `The model for new threads cannot be used. ${visible(chosen.problem)}\n`;
    return say(`${modelTable(list, undefined)}\n${problem}${another}`);
  }
  return say(`${modelTable(list, chosen.id)}\n* is what new threads use. ${another}`);
}

async function chosenModel(client: FlintClient): Promise<Chosen> {
  try {
    return { id: (await client.configRead()).model };
  } catch (thrown) {
    // The configured one does not exist; the list shows what does.
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** The models as rows; one that is chosen and that nobody lists is a row too. */
export function modelTable(list: readonly Model[], chosen: string | undefined): string {
  const rows = list.map((model) => [
    model.id === chosen ? "*" : " ",
    model.id,
    model.displayName,
    model.description ?? "",
  ]);
  const isListed = chosen === undefined || list.some((model) => model.id === chosen);
  return columns(isListed ? rows : [...rows, ["*", chosen, "not listed", "it may not be available"]]);
}

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
