import { code, GENERATED, page, table } from "../markdown.ts";

/** A key of the configuration, as its page shows it. */
export interface ConfigurationRow {
  readonly takes: string;
  readonly doc: string;
  readonly inProject: boolean;
}

/** Every key of `config.toml`. */
export function configurationPage(prose: string, keys: Readonly<Record<string, ConfigurationRow>>): string {
  const rows = Object.entries(keys).map(([name, { takes, doc, inProject }]) => [
    code(name),
    `${doc} Value: ${takes}.`,
    inProject ? "user, project" : "user",
  ]);
  return page([GENERATED, prose.trim(), "## Keys", table(["Key", "Description", "File"], rows)]);
}
