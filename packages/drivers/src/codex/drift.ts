import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "@flint/core/ports";
import { FlintError, listOf } from "@flint/protocol";
import {
  CODEX_ITEMS,
  CODEX_NOTIFICATIONS,
  CODEX_REQUESTS,
  CODEX_SERVER_REQUESTS,
  type CodexSchema,
  fieldsOf,
} from "@flint/protocol/codex";
import { type JsonObject, objectOf } from "../shared/json.ts";

/** Longer than a slow machine needs: Codex prints its schemas in a fifth of a second. */
const PRINT_MS = 5_000;

/** A program to run to its end. */
export interface ProgramRun {
  readonly command: readonly string[];
  /** The folder to run it in, and the only one that it has to write. */
  readonly folder: string;
  readonly timeoutMs: number;
}

/** Runs a program to its end. */
export type RunProgram = (run: ProgramRun) => Promise<{ readonly exitCode: number; readonly output: string }>;

/**
 * Compares the schemas that the installed Codex prints with Flint's part of the protocol, and describes each difference
 * in a sentence. Rejects if this Codex cannot print them.
 */
export async function codexDrift(program: readonly string[], run: RunProgram): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "flint-codex-schemas-"));
  try {
    const command = [...program, "app-server", "generate-json-schema", "--experimental", "--out", folder];
    const { exitCode, output } = await run({ command, folder, timeoutMs: PRINT_MS });
    if (exitCode === 0) return compareSchemas(await readSchemas(folder));
    const message = `Codex did not print its protocol (exit code ${exitCode}): ${output.trim()}`;
    throw new FlintError("agentFailed", message);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs programs in a sandbox, in which they can write nothing but their folder. */
export function runInSandbox(sandbox: Sandbox): RunProgram {
  return async ({ command, folder, timeoutMs }) => {
    let output = "";
    const { exitCode } = await sandbox.launch({
      ...{ command, cwd: folder, workspace: folder, timeoutMs },
      policy: { type: "workspaceWrite" },
      onOutput: (text) => {
        output = (output + text).slice(-2_000);
      },
    });
    return { exitCode, output };
  };
}

async function readSchemas(folder: string): Promise<CodexSchemas> {
  const read = async (name: string): Promise<unknown> =>
    JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));
  const [requests, serverRequests, notifications] = await Promise.all([
    read("ClientRequest"),
    read("ServerRequest"),
    read("ServerNotification"),
  ]);
  return { requests, serverRequests, notifications };
}

/** The schemas that Codex prints: each a list of messages with a method and params. */
export interface CodexSchemas {
  readonly requests: unknown;
  readonly serverRequests: unknown;
  readonly notifications: unknown;
}

/** A printed schema, and the definitions that it refers to. */
interface Printed {
  readonly schema: JsonObject;
  readonly definitions: JsonObject;
}

/** Codex has to accept a field that Flint sends, and to send one that Flint reads. */
type Direction = "sent" | "read";

/** The differences between Flint's part of the protocol and the schemas that Codex printed; empty if there are none. */
export function compareSchemas(schemas: CodexSchemas): readonly string[] {
  return [
    ...compareFamily("request", CODEX_REQUESTS, schemas.requests, "sent"),
    ...compareFamily("request of Codex", CODEX_SERVER_REQUESTS, schemas.serverRequests, "read"),
    ...compareFamily("notification", CODEX_NOTIFICATIONS, schemas.notifications, "read"),
    ...compareItems(schemas.notifications),
  ];
}

type Rows = Readonly<Record<string, { readonly params: CodexSchema }>>;

function compareFamily(kind: string, rows: Rows, generated: unknown, direction: Direction): string[] {
  const definitions = objectOf(objectOf(generated).definitions);
  const methods = new Map(
    listOf(objectOf(generated).oneOf).map((entry) => [methodOf(entry), entry] as const),
  );
  return Object.entries(rows).flatMap(([method, { params }]) => {
    const entry = methods.get(method);
    if (entry === undefined) return [`The ${kind} ${method} no longer exists.`];
    const schema = resolved(objectOf(objectOf(entry).properties).params, definitions);
    return compareShape(`${kind} ${method}`, params, { schema, definitions }, direction);
  });
}

/** Each type of item has its own schema. */
function compareItems(generated: unknown): string[] {
  const definitions = objectOf(objectOf(generated).definitions);
  const variants = listOf(resolved(definitions.ThreadItem, definitions).oneOf).map((entry) =>
    resolved(entry, definitions),
  );
  return Object.entries(CODEX_ITEMS).flatMap(([type, schema]) => {
    const found = variants.find((variant) => typesOf(variant, definitions).includes(type));
    if (found === undefined) return [`The item ${type} no longer exists.`];
    return compareShape(`item ${type}`, schema, { schema: found, definitions }, "read");
  });
}

function typesOf(variant: JsonObject, definitions: JsonObject): readonly unknown[] {
  const type = resolved(propertiesOf(variant, definitions).type, definitions);
  return type.const === undefined ? listOf(type.enum) : [type.const];
}

function compareShape(where: string, ours: CodexSchema, printed: Printed, direction: Direction): string[] {
  const properties = propertiesOf(printed.schema, printed.definitions);
  const fields = fieldsOf(ours);
  const lost = fields
    .filter(({ name, isOptional }) => !(name in properties) && (direction === "sent" || !isOptional))
    .map(({ name }) => `The ${where} no longer has the field ${name}.`);
  if (direction === "read") return lost;
  const added = listOf(printed.schema.required)
    .filter((required) => !fields.some(({ name }) => name === required))
    .map((required) => `The ${where} requires a field ${String(required)} that Flint does not send.`);
  return [...lost, ...added];
}

/** All fields of a printed schema, including those of its parts. */
function propertiesOf(schema: JsonObject, definitions: JsonObject): JsonObject {
  const parts = [...listOf(schema.allOf), ...listOf(schema.oneOf), ...listOf(schema.anyOf)];
  const ofParts = parts.map((part) => propertiesOf(resolved(part, definitions), definitions));
  return Object.assign({}, ...ofParts, objectOf(schema.properties));
}

function resolved(schema: unknown, definitions: JsonObject): JsonObject {
  const { $ref: reference } = objectOf(schema);
  if (typeof reference !== "string") return objectOf(schema);
  return resolved(definitions[reference.replace(/^#\/definitions\//, "")], definitions);
}

function methodOf(entry: unknown): unknown {
  const method = objectOf(objectOf(objectOf(entry).properties).method);
  return method.const ?? listOf(method.enum)[0];
}
