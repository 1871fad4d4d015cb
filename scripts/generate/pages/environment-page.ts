import { code, GENERATED, page, table } from "../markdown.ts";

/** Every variable that Flint reads. */
export function environmentPage(variables: Readonly<Record<string, string>>): string {
  return page([
    GENERATED,
    "# Environment",
    "Flint reads only these variables. An empty variable counts as unset. Command-line options take precedence.",
    table(
      ["Variable", "What it is for"],
      Object.entries(variables).map(([name, meaning]) => [code(name), meaning]),
    ),
  ]);
}
