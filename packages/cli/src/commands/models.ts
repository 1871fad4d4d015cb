import type { Model } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { visible } from "@flint/view";
import { noArguments } from "./arguments.ts";
import { withServer } from "./local-server.ts";
import { columns, say, sayJson } from "./output.ts";

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
