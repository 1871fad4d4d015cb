import { noArguments } from "./arguments.ts";
import { withServer } from "./local-server.ts";
import { columns, say, sayJson } from "./output.ts";

interface ModelsArguments {
  readonly values: { readonly json?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint models`: what threads can use, the default marked. */
export async function models({ values, positionals }: ModelsArguments): Promise<number> {
  noArguments("models", positionals);
  const { list, chosen } = await withServer(async (client) => {
    const [listed, config] = await Promise.all([client.models(), client.configRead()]);
    return { list: listed, chosen: config.model };
  });
  if (values.json === true) return sayJson(list);
  const rows = list.map((model) => [
    model.id === chosen ? "*" : " ",
    model.id,
    model.displayName,
    model.description ?? "",
  ]);
  return say(
    `${columns(rows)}\n* is what new threads use. Another: flint exec --model MODEL, or for always:\n  flint config set model MODEL\n`,
  );
}
