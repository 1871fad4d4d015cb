import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { jsonSchemas, typeScriptDeclarations } from "@flint/protocol/schema";
import { UsageError } from "../command-line/command.ts";

interface SchemaArguments {
  readonly values: { readonly out?: string | undefined; readonly typescript?: boolean | undefined };
  readonly positionals: readonly string[];
}

/** `flint schema`: prints a protocol as JSON Schema or TypeScript, for authors of clients. */
export async function schema({ values, positionals }: SchemaArguments): Promise<number> {
  const requested = positionals[0];
  const schemas: Readonly<Record<string, object>> = jsonSchemas();
  if (requested !== undefined && !Object.hasOwn(schemas, requested)) {
    throw new UsageError(
      `Unknown protocol ${JSON.stringify(requested)}. Available: ${Object.keys(schemas).join(", ")}.`,
    );
  }
  const chosen = requested === undefined ? schemas : { [requested]: schemas[requested] };
  if (values.typescript === true) {
    process.stdout.write(typeScriptDeclarations(requested === "harness" ? "harness" : "flint"));
  } else if (values.out === undefined) {
    process.stdout.write(`${JSON.stringify(chosen, undefined, 2)}\n`);
  } else {
    writeAll(values.out, chosen);
  }
  return 0;
}

function writeAll(folder: string, schemas: Readonly<Record<string, unknown>>): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(schemas)) {
    const path = join(folder, `${name}.json`);
    writeFileSync(path, `${JSON.stringify(content, undefined, 2)}\n`);
    process.stdout.write(`${path}\n`);
  }
}
