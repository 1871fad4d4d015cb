import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder, agentProgram } from "@flint/testkit";
import { Ajv, type ValidateFunction } from "ajv";
import { type Fields, fields } from "./server-under-test.ts";
import { unknownFields } from "./unknown-fields.ts";

const run = promisify(execFile);

/** The schemas that the real Codex prints of its protocol. */
export class CodexSchemas {
  readonly #ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  readonly #schemas: ReadonlyMap<string, Fields>;
  readonly #answers: ReadonlyMap<string, string>;
  readonly #validators = new Map<string, ValidateFunction>();

  private constructor(schemas: ReadonlyMap<string, Fields>) {
    this.#schemas = schemas;
    this.#answers = new Map(requestsIn(schemas.get("ClientRequest") ?? {}));
  }

  /** Has the program print them, with or without the experimental ones. */
  static async print(flags: readonly string[] = ["--experimental"]): Promise<CodexSchemas> {
    const { path } = await agentFolder();
    const program = agentProgram("codex") ?? "codex";
    const environment = { ...process.env, CODEX_HOME: path };
    const printed = join(path, "schemas");
    await run(program, ["app-server", "generate-json-schema", ...flags, "--out", printed], {
      env: environment,
    });
    const schemas = new Map<string, Fields>();
    for (const folder of ["v1", "v2", ""]) {
      for (const name of await readdir(join(printed, folder))) {
        if (!name.endsWith(".json")) continue;
        schemas.set(
          name.slice(0, -".json".length),
          JSON.parse(await readFile(join(printed, folder, name), "utf8")),
        );
      }
    }
    return new CodexSchemas(schemas);
  }

  /** The problem with a notification of the server. */
  notification(message: Fields): string[] {
    const { emittedAtMs: _time, ...sent } = message;
    return this.#checkOne("ServerNotification", sent);
  }

  /** The problem with a request of the server. */
  serverRequest(message: Fields): string[] {
    return this.#checkOne("ServerRequest", message);
  }

  /** The problem with the answer to a request. */
  answer(method: string, result: unknown): string[] {
    const name = this.#answers.get(method) ?? REMOVED[method];
    return name === undefined ? [`${method} is not a request of Codex`] : this.#check(name, result);
  }

  /** Reports whether Codex itself has this request. */
  hasRequest(method: string): boolean {
    return this.#answers.has(method);
  }

  /** Checks a message against the variant of its method only, so that errors can be read. */
  #checkOne(family: string, message: Fields): string[] {
    const { oneOf, definitions } = this.#schemas.get(family) ?? {};
    const variants = Array.isArray(oneOf) ? oneOf.map(fields) : [];
    const found = variants.find((variant) => nameOf(variant) === message.method);
    if (found === undefined) return [`${String(message.method)} is not a ${family}`];
    return this.#checkBy(String(message.method), { ...found, definitions }, message);
  }

  /** The fields that a request takes. */
  fieldsOf(method: string): string[] {
    const { oneOf, definitions } = this.#schemas.get("ClientRequest") ?? {};
    const variants = Array.isArray(oneOf) ? oneOf.map(fields) : [];
    const found = variants.find((variant) => nameOf(variant) === method);
    const { params } = fields(found?.properties);
    const name = /definitions\/(\w+)"/.exec(JSON.stringify(params ?? null))?.[1] ?? "";
    return Object.keys(fields(fields(fields(definitions)[name]).properties));
  }

  #check(name: string, value: unknown): string[] {
    const schema = this.#schemas.get(name);
    return schema === undefined ? [`Codex prints no schema ${name}`] : this.#checkBy(name, schema, value);
  }

  #checkBy(name: string, schema: Fields, value: unknown): string[] {
    const validate = this.#validators.get(name) ?? this.#ajv.compile(schema);
    this.#validators.set(name, validate);
    if (validate(value))
      return unknownFields(schema, value).map((field) => `${name}: unknown field ${field}`);
    return (validate.errors ?? []).map(({ instancePath, message }) => `${name}${instancePath}: ${message}`);
  }
}

/** Requests that this version of Codex does not have any more, with the schema of what they were answered with. */
const REMOVED: Readonly<Record<string, string>> = { "thread/rollback": "ThreadReadResponse" };

/** Answers that have a name of their own. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "account/logout": "LogoutAccount",
  "config/batchWrite": "ConfigWrite",
  "config/mcpServer/reload": "McpServerRefresh",
  "config/value/write": "ConfigWrite",
};

/** Each request with the name of its answer, which is that of its params with another ending. */
function* requestsIn(schema: Fields): Iterable<[string, string]> {
  const { oneOf } = schema;
  for (const variant of Array.isArray(oneOf) ? oneOf : []) {
    const { params } = fields(fields(variant).properties);
    const name = nameOf(fields(variant));
    const reference = /(\w+)Params"/.exec(JSON.stringify(params ?? null))?.[1];
    yield [name, `${OTHER_NAMES[name] ?? reference ?? fromMethod(name)}Response`];
  }
}

/** The name of the message that a schema is for. */
function nameOf({ properties }: Fields): string {
  const { enum: names } = fields(fields(properties).method);
  return Array.isArray(names) ? String(names[0]) : "";
}

function fromMethod(method: string): string {
  return method
    .split("/")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
