import { once } from "node:events";
import { resolve } from "node:path";
import { errorMessage, type Model, modelDescription } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { noArguments, numberOption } from "../command-line/command.ts";
import { columns, print, printJson } from "../command-line/output.ts";
import { withServer } from "./local-server.ts";

interface ModelsArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** The model of new threads, or why there is none. */
type Chosen = { readonly id: string } | { readonly problem: string };

/** `flint models`: lists the models, with the default marked. */
export async function models({ values, positionals }: ModelsArguments): Promise<number> {
  noArguments("models", positionals);
  const { list, chosen } = await withServer(async (client) => {
    const [list, chosen] = await Promise.all([client.models(), chosenModel(client)]);
    return { list, chosen };
  });
  if (values.json === true) return printJson(list);
  const another =
    "Use another with flint exec -m MODEL, or make it the default:\n  flint config set model MODEL\n";
  if ("problem" in chosen) {
    const problem = `The default model cannot be used: ${escapeControls(chosen.problem)}\n`;
    return print(`${modelTable(list, undefined)}\n${problem}${another}`);
  }
  return print(`${modelTable(list, chosen.id)}\n* is the default. ${another}`);
}

async function chosenModel(client: FlintClient): Promise<Chosen> {
  try {
    return { id: (await client.configRead()).model };
  } catch (thrown) {
    // The configured model does not exist; the list shows what does.
    return { problem: errorMessage(thrown) };
  }
}

/** The models as rows. A default that no agent lists has a row too. */
export function modelTable(list: readonly Model[], chosen: string | undefined): string {
  const rows = list.map((model) => [
    model.id === chosen ? "*" : " ",
    model.id,
    model.displayName,
    modelDescription(model) ?? "",
  ]);
  const isListed = chosen === undefined || list.some((model) => model.id === chosen);
  return columns(isListed ? rows : [...rows, ["*", chosen, "not listed", "may not be available"]]);
}

interface ServeArguments {
  readonly values: { readonly port?: string | undefined; readonly script?: string | undefined };
  readonly positionals: readonly string[];
}

/** `flint model serve`: serves the offline model over HTTP on this machine until a signal ends it. */
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

/** Explains why a port cannot be bound; other errors are passed on. */
function portProblem(thrown: unknown, port: number): unknown {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  const other = "Choose another with --port, or leave it out to use a free one.";
  if (code === "EADDRINUSE") return new Error(`Port ${port} is already in use. ${other}`, { cause: thrown });
  if (code === "EACCES")
    return new Error(`You do not have permission to use port ${port}. ${other}`, { cause: thrown });
  return thrown;
}

function portOf(text = "0"): number {
  const isPort = (port: number): boolean => Number.isInteger(port) && port >= 0 && port <= 65_535;
  return numberOption("port", text, "a number from 0 (any free port) to 65535", isPort);
}
