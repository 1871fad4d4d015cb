import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { agentFolder, agentProgram, type WireMessage } from "@flint/testkit";
import { Ajv, type ValidateFunction } from "ajv";

/** Numbers of Rust; that they are numbers is said beside it. */
const FORMATS = ["int32", "int64", "uint", "uint16", "uint32", "uint64", "double"];

/** The file that says what a request is answered with. */
const ANSWERS: Readonly<Record<string, string>> = {
  initialize: "v1/InitializeResponse",
  "account/read": "v2/GetAccountResponse",
  "model/list": "v2/ModelListResponse",
  "skills/list": "v2/SkillsListResponse",
  "config/mcpServer/reload": "v2/McpServerRefreshResponse",
  "thread/start": "v2/ThreadStartResponse",
  "thread/resume": "v2/ThreadResumeResponse",
  "thread/read": "v2/ThreadReadResponse",
  // Gone from this version of Codex; its answer was a thread with its turns, as that of thread/read.
  "thread/rollback": "v2/ThreadReadResponse",
  "thread/compact/start": "v2/ThreadCompactStartResponse",
  "turn/start": "v2/TurnStartResponse",
  "turn/interrupt": "v2/TurnInterruptResponse",
};

/** Reads what a server says as strictly as a client that decodes with the schemas of the real Codex. */
export class CodexSchemas {
  readonly #folder: string;
  readonly #ajv = new Ajv({ strict: false, allErrors: true });
  readonly #compiled = new Map<string, Promise<ValidateFunction>>();

  private constructor(folder: string) {
    this.#folder = folder;
    for (const format of FORMATS) this.#ajv.addFormat(format, true);
  }

  /** Has the real Codex print its schemas; they are gone with the test. */
  static async generate(): Promise<CodexSchemas> {
    const { path: folder } = await agentFolder();
    const args = ["app-server", "generate-json-schema", "--experimental", "--out", folder];
    const env = { ...process.env, CODEX_HOME: folder };
    await promisify(execFile)(agentProgram("codex") ?? "codex", args, { env });
    return new CodexSchemas(folder);
  }

  /** What is wrong with the answer to a request; nothing if it is as Codex would give it. */
  problemsOfAnswer(method: string, result: unknown): Promise<string[]> {
    const file = ANSWERS[method];
    if (file === undefined) throw new Error(`No schema is known for the answer to ${method}.`);
    return this.#problems(file, result);
  }

  /** What is wrong with a notification or a request of the server. */
  problemsOfMessage(message: WireMessage): Promise<string[]> {
    const file = "id" in message ? "ServerRequest" : "ServerNotification";
    return this.#problems(file, message, String(message.method));
  }

  async #problems(file: string, value: unknown, method?: string): Promise<string[]> {
    const validate = await this.#validator(file, method);
    if (validate(value)) return [];
    const what = method ?? file;
    return (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
  }

  #validator(file: string, method = ""): Promise<ValidateFunction> {
    const key = `${file} ${method}`;
    const known = this.#compiled.get(key) ?? this.#compile(file, method);
    this.#compiled.set(key, known);
    return known;
  }

  /** Of a schema for many methods only the part about one, so that what is wrong can be read. */
  async #compile(file: string, method: string): Promise<ValidateFunction> {
    const schema = JSON.parse(await readFile(join(this.#folder, `${file}.json`), "utf8"));
    if (method === "") return this.#ajv.compile(schema);
    const methods: readonly MethodSchema[] = schema.oneOf;
    const own = methods.find(({ properties }) => properties.method.enum.includes(method));
    if (own === undefined) throw new Error(`Codex has no ${method} in ${file}.`);
    return this.#ajv.compile({ ...own, definitions: schema.definitions });
  }
}

/** What is looked at in the schema of one method. */
interface MethodSchema {
  readonly properties: { readonly method: { readonly enum: readonly string[] } };
}
