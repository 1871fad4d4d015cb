import { code, GENERATED, page, table } from "./markdown.ts";

/** Every variable that Flint reads. */
export function environmentPage(variables: Readonly<Record<string, string>>): string {
  return page([
    GENERATED,
    "# Environment",
    "Flint reads these variables and no others. An empty one counts as not set. Options on the command line win.",
    table(
      ["Variable", "What it is for"],
      Object.entries(variables).map(([name, meaning]) => [code(name), meaning]),
    ),
  ]);
}
