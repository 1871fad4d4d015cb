import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { lazy } from "@flint/protocol";
import type { AnySchema, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** A JSON-RPC message as it was on the wire. */
export type WireMessage = Readonly<Record<string, unknown>>;

const ROOT = join(dirname(createRequire(import.meta.url).resolve("@agentclientprotocol/sdk")), "../../..");

/** The shapes of what the first version answers and tells, by method. */
const V1_SHAPES: Readonly<Record<string, string>> = {
  initialize: "InitializeResponse",
  authenticate: "AuthenticateResponse",
  "session/new": "NewSessionResponse",
  "session/load": "LoadSessionResponse",
  "session/resume": "ResumeSessionResponse",
  "session/list": "ListSessionsResponse",
  "session/delete": "DeleteSessionResponse",
  "session/close": "CloseSessionResponse",
  "session/prompt": "PromptResponse",
  "session/set_mode": "SetSessionModeResponse",
  "session/set_config_option": "SetSessionConfigOptionResponse",
  "session/update": "SessionNotification",
  "session/request_permission": "RequestPermissionRequest",
  "fs/read_text_file": "ReadTextFileRequest",
  "elicitation/create": "CreateElicitationRequest",
  "$/cancel_request": "CancelRequestNotification",
};

/** The same for the second version. */
const V2_SHAPES: Readonly<Record<string, string>> = {
  ...V1_SHAPES,
  "session/update": "UpdateSessionNotification",
  "auth/login": "LoginAuthResponse",
  "auth/logout": "LogoutAuthResponse",
};

/** The shapes of one schema; each is made ready once, for that takes long. */
class SchemaChecks {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false });
  readonly #checks = new Map<string, ValidateFunction>();

  constructor(version: 1 | 2) {
    const text = readFileSync(join(ROOT, `schema/v${version}/schema.json`), "utf8");
    // The schema of the package is a schema; nobody here looks into it.
    this.#ajv.addSchema(JSON.parse(text) as AnySchema, "acp");
  }

  problem(shape: string, value: unknown): string | undefined {
    const check = this.#checks.get(shape) ?? this.#ajv.compile({ $ref: `acp#/$defs/${shape}` });
    this.#checks.set(shape, check);
    return check(value) ? undefined : this.#ajv.errorsText(check.errors);
  }
}

const SCHEMAS = { 1: lazy(() => new SchemaChecks(1)), 2: lazy(() => new SchemaChecks(2)) } as const;

/** Checks everything that a door sends against the schema that the official package ships. */
export class MessageCheck {
  /** What did not fit, in words. */
  readonly problems: string[] = [];
  readonly #schema: SchemaChecks;
  readonly #shapes: Readonly<Record<string, string>>;
  readonly #asked = new Map<string, string>();

  constructor(version: 1 | 2) {
    this.#shapes = version === 1 ? V1_SHAPES : V2_SHAPES;
    this.#schema = SCHEMAS[version]();
  }

  /** Notes what the client asks, to know what the answer must be. */
  sent({ id, method }: WireMessage): void {
    if (id !== undefined && typeof method === "string") this.#asked.set(JSON.stringify(id), method);
  }

  received(message: WireMessage): void {
    const { id, method, params, result, error } = message;
    if (message.jsonrpc !== "2.0") this.problems.push(`without header: ${JSON.stringify(message)}`);
    if (typeof method === "string") this.#check(method, params);
    else if (error !== undefined) this.#validate("Error", error);
    else this.#check(this.#asked.get(JSON.stringify(id)) ?? "nobody asked", result);
  }

  #check(method: string, value: unknown): void {
    const shape = this.#shapes[method];
    if (shape !== undefined) this.#validate(shape, value);
  }

  #validate(shape: string, value: unknown): void {
    const problem = this.#schema.problem(shape, value);
    if (problem !== undefined) this.problems.push(`${shape}: ${problem} in ${JSON.stringify(value)}`);
  }
}
