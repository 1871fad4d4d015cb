import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { isRecord } from "@flint/protocol";
import type { CheckGroup } from "../check.ts";
import type { TestContext } from "../test-context.ts";
import { at, Failed, listAt } from "../wire/pattern.ts";
import type { Entry, Message } from "../wire/wire.ts";

/** Reports whether a value fits a schema, and keeps the reason why not. */
interface Validate {
  (value: unknown): boolean;
  errors?: readonly { readonly instancePath: string; readonly message?: string }[] | null;
}

/** The part of Ajv that is used here. */
interface Library {
  addSchema(schema: object, name: string): unknown;
  compile(schema: object): Validate;
}

/** Answers whose schema is not named after the params of their method. */
const RESPONSES: Readonly<Record<string, string>> = {
  initialize: "v1/InitializeResponse",
  "account/logout": "v2/LogoutAccountResponse",
  "account/rateLimits/read": "v2/GetAccountRateLimitsResponse",
  "config/batchWrite": "v2/ConfigWriteResponse",
  "config/mcpServer/reload": "v2/McpServerRefreshResponse",
  "config/value/write": "v2/ConfigWriteResponse",
  "configRequirements/read": "v2/ConfigRequirementsReadResponse",
};
const MOST_PROBLEMS = 20;

/** The check that all messages of a run fit the schemas in a folder, as `codex app-server generate-json-schema` writes them. */
export async function schemaChecks(folder: string): Promise<CheckGroup> {
  const schemas = await Schemas.read(folder);
  return {
    about: "Schemas",
    checks: [
      {
        name: "every message in this run matches the schemas",
        run: async (trial: TestContext) => {
          const problems = await schemas.problemsIn(trial.everything());
          if (problems.length > 0) throw new Failed(problems.slice(0, MOST_PROBLEMS).join("\n"));
        },
      },
    ],
  };
}

class Schemas {
  readonly #folder: string;
  readonly #ajv: Library;
  readonly #requests: Message;
  readonly #files = new Map<string, Message | undefined>();
  readonly #known = new Map<string, Validate | undefined>();

  private constructor(folder: string, ajv: Library, requests: Message) {
    this.#folder = folder;
    this.#ajv = ajv;
    this.#requests = requests;
  }

  static async read(folder: string): Promise<Schemas> {
    const ajv = library(folder);
    const requests = await schemaIn(folder, "ClientRequest");
    if (requests !== undefined) return new Schemas(folder, ajv, requests);
    throw new Error(
      `${folder} has no ClientRequest.json. Make it with: codex app-server generate-json-schema --experimental --out ${folder}`,
    );
  }

  /** Returns the problems, each kind of fault once. */
  async problemsIn(entries: readonly Entry[]): Promise<string[]> {
    const asked = new Map<unknown, string>();
    const problems = new Set<string>();
    for (const { direction, message } of entries) {
      if (message === undefined) continue;
      if (direction === "sent") asked.set(message.id, String(message.method));
      else for (const problem of await this.#problems(message, asked)) problems.add(problem);
    }
    return [...problems];
  }

  async #problems(message: Message, asked: ReadonlyMap<unknown, string>): Promise<string[]> {
    if (typeof message.method === "string") {
      const kind = "id" in message ? "ServerRequest" : "ServerNotification";
      return this.#against(message.method, kind, message);
    }
    if ("error" in message) return this.#against("a refusal", "JSONRPCError", message);
    const method = asked.get(message.id) ?? "";
    const response = this.#responseOf(method);
    return response === undefined ? [] : this.#against(`the answer of ${method}`, response, message.result);
  }

  async #against(what: string, name: string, value: unknown): Promise<string[]> {
    const validate = await this.#validator(name, value);
    if (validate === undefined || validate(value)) return [];
    const { instancePath = "", message = "" } = validate.errors?.[0] ?? {};
    return [`${what}: ${instancePath.replaceAll(/\/\d+/g, "/…")} ${message}`];
  }

  /** A notification or request is held against its own kind, which gives an error that says something. */
  async #validator(name: string, value: unknown): Promise<Validate | undefined> {
    const method = name.startsWith("Server") ? at(value, "method") : undefined;
    const key = `${name} ${String(method)}`;
    if (this.#known.has(key)) return this.#known.get(key);
    const schema = await this.#file(name);
    const validate =
      schema === undefined ? undefined : this.#ajv.compile({ $ref: referenceTo(name, schema, method) });
    this.#known.set(key, validate);
    return validate;
  }

  async #file(name: string): Promise<Message | undefined> {
    if (this.#files.has(name)) return this.#files.get(name);
    const schema = await schemaIn(this.#folder, name);
    this.#files.set(name, schema);
    if (schema !== undefined) this.#ajv.addSchema(schema, name);
    return schema;
  }

  #responseOf(method: string): string | undefined {
    const known = RESPONSES[method];
    if (known !== undefined) return known;
    const request = listAt(this.#requests, "oneOf").find(
      (one) => at(one, "properties", "method", "enum", 0) === method,
    );
    const params = at(request, "properties", "params", "$ref");
    if (typeof params !== "string") return undefined;
    const name = params.replace(/^.*\//, "").replace(/Params$/, "Response");
    return method === "fuzzyFileSearch" ? name : `v2/${name}`;
  }
}

/** The part of a schema that is about one method, or all of it. An unknown method fits none of its parts. */
function referenceTo(name: string, { oneOf }: Message, method: unknown): string {
  const kinds = method === undefined || !Array.isArray(oneOf) ? [] : oneOf;
  const place = kinds.findIndex((one) => at(one, "properties", "method", "enum", 0) === method);
  return place === -1 ? `${name}#` : `${name}#/oneOf/${place}`;
}

async function schemaIn(folder: string, name: string): Promise<Message | undefined> {
  // Expected: a method that the schemas do not know.
  const text = await readFile(join(folder, `${name}.json`), "utf8").catch(() => undefined);
  const value: unknown = text === undefined ? undefined : JSON.parse(text);
  return isRecord(value) ? value : undefined;
}

/** Ajv is not part of Flint; a user of this flag installs it in the working directory or beside Flint. */
function library(folder: string): Library {
  for (const place of [import.meta.url, join(process.cwd(), "x.js"), join(folder, "x.js")]) {
    // Expected: not installed there.
    try {
      const { Ajv } = createRequire(place)("ajv");
      return new Ajv({ strict: false, logger: false, validateFormats: false });
    } catch {}
  }
  throw new Error("--schemas needs ajv, which is not installed. Get it with: npm install ajv");
}
