import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { lazy } from "@flint/protocol";
import type { AnySchema, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

/** A JSON-RPC message as it was on the wire. */
export type WireMessage = Readonly<Record<string, unknown>>;

const ROOT = join(dirname(createRequire(import.meta.url).resolve("@agentclientprotocol/sdk")), "../../..");

/** The schema types of version 1 responses, requests and notifications, by method. */
const V1_TYPES: Readonly<Record<string, string>> = {
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

/** The same for version 2. */
const V2_TYPES: Readonly<Record<string, string>> = {
  ...V1_TYPES,
  "session/update": "UpdateSessionNotification",
  "auth/login": "LoginAuthResponse",
  "auth/logout": "LogoutAuthResponse",
};

/** Validators for the types of one schema; each is compiled once, because that is slow. */
class SchemaChecks {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false });
  readonly #checks = new Map<string, ValidateFunction>();

  constructor(version: 1 | 2) {
    const text = readFileSync(join(ROOT, `schema/v${version}/schema.json`), "utf8");
    // The file that the package ships is a schema; nothing here looks into it.
    this.#ajv.addSchema(JSON.parse(text) as AnySchema, "acp");
  }

  problem(type: string, value: unknown): string | undefined {
    const check = this.#checks.get(type) ?? this.#ajv.compile({ $ref: `acp#/$defs/${type}` });
    this.#checks.set(type, check);
    return check(value) ? undefined : this.#ajv.errorsText(check.errors);
  }
}

const SCHEMAS = { 1: lazy(() => new SchemaChecks(1)), 2: lazy(() => new SchemaChecks(2)) } as const;

/** Checks every message to a client against the schema that the official package ships. */
export class MessageCheck {
  /** Messages that did not match. */
  readonly problems: string[] = [];
  readonly #schema: SchemaChecks;
  readonly #types: Readonly<Record<string, string>>;
  readonly #requests = new Map<string, string>();

  constructor(version: 1 | 2) {
    this.#types = version === 1 ? V1_TYPES : V2_TYPES;
    this.#schema = SCHEMAS[version]();
  }

  /** Records a request of the client, to know the type of its response. */
  sent({ id, method }: WireMessage): void {
    if (id !== undefined && typeof method === "string") this.#requests.set(JSON.stringify(id), method);
  }

  received(message: WireMessage): void {
    const { id, method, params, result, error } = message;
    if (message.jsonrpc !== "2.0") this.problems.push(`without header: ${JSON.stringify(message)}`);
    if (typeof method === "string") this.#check(method, params);
    else if (error !== undefined) this.#validate("Error", error);
    else this.#check(this.#requests.get(JSON.stringify(id)) ?? "no request", result);
  }

  #check(method: string, value: unknown): void {
    const type = this.#types[method];
    if (type !== undefined) this.#validate(type, value);
  }

  #validate(type: string, value: unknown): void {
    const problem = this.#schema.problem(type, value);
    if (problem !== undefined) this.problems.push(`${type}: ${problem} in ${JSON.stringify(value)}`);
  }
}
