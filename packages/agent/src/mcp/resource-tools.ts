import type { Clock } from "@flint/core/ports";
import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import { boundedJson } from "../bounded-json.ts";
import type { ToolDescription } from "../models/model.ts";
import { failed, type Tool, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import { type CallResult, modelText, readResourceResult } from "./call-result.ts";
import type { McpConnection } from "./connection.ts";
import { McpFailure } from "./failure.ts";
import { type CallTarget, McpCall } from "./mcp-call.ts";
import type { McpServer } from "./mcp-server.ts";

const MAX_RESOURCES = 500;
const MAX_FIELD = 500;
const STORED_BOUNDS = { depth: 4, characters: 256 * 1024 };
const FIELDS = ["uri", "uriTemplate", "name", "title", "description", "mimeType"];

type Input = Readonly<Record<string, unknown>>;

/** A server that has resources, with its connection. */
interface Source {
  readonly name: string;
  readonly connection: McpConnection;
}

/** A tool for resources. */
interface ResourceToolDefinition extends ToolDescription {
  /** The target of a call, or what is wrong with its input. */
  target(input: Input, sources: readonly Source[]): Pick<CallTarget, "server" | "perform"> | ToolOutcome;
}

/** The tools to list and read resources; none if no server has any. */
export function resourceTools(servers: readonly McpServer[], clock: Clock): readonly Tool[] {
  return sourcesOf(servers).length === 0
    ? []
    : [new ResourceTool(LIST, servers, clock), new ResourceTool(READ, servers, clock)];
}

class ResourceTool implements Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: ToolDescription["parameters"];
  readonly readOnly = false;
  readonly #definition: ResourceToolDefinition;
  readonly #servers: readonly McpServer[];
  readonly #clock: Clock;

  constructor(definition: ResourceToolDefinition, servers: readonly McpServer[], clock: Clock) {
    this.name = definition.name;
    this.description = definition.description;
    this.parameters = definition.parameters;
    this.#definition = definition;
    this.#servers = servers;
    this.#clock = clock;
  }

  async run(input: Input, context: ToolContext): Promise<ToolOutcome> {
    const target = this.#definition.target(input, sourcesOf(this.#servers));
    if (!("perform" in target)) return target;
    return McpCall.run({ ...target, tool: this.name, asks: "agent" }, input, context, this.#clock);
  }
}

const LIST: ResourceToolDefinition = {
  name: "list_mcp_resources",
  description: "Lists the resources of one MCP server or of all.",
  parameters: {
    type: "object",
    properties: { server: { type: "string", description: "The name of the server; all by default." } },
  },
  target({ server }, all) {
    const sources = server === undefined ? all : all.filter(({ name }) => name === server);
    if (sources.length === 0) return noSuchServer(server, all);
    return {
      server: sources.map(({ name }) => name).join(", "),
      perform: (_input, { signal }) => listOf(sources, signal),
    };
  },
};

const READ: ResourceToolDefinition = {
  name: "read_mcp_resource",
  description: "Reads a resource of an MCP server by its URI.",
  parameters: {
    type: "object",
    properties: { server: { type: "string" }, uri: { type: "string" } },
    required: ["server", "uri"],
  },
  target({ server, uri }, all) {
    if (typeof uri !== "string" || uri === "") return failed("read_mcp_resource needs a uri.");
    const source = all.find(({ name }) => name === server);
    if (source === undefined) return noSuchServer(server, all);
    return {
      server: source.name,
      perform: async (_input, listener) =>
        readResourceResult(await source.connection.readResource(uri, listener)),
    };
  },
};

function sourcesOf(servers: readonly McpServer[]): readonly Source[] {
  return servers.flatMap(({ name, connection }) =>
    connection?.hasResources === true ? [{ name, connection }] : [],
  );
}

function noSuchServer(server: unknown, sources: readonly Source[]): ToolOutcome {
  const names = sources.map(({ name }) => name).join(", ") || "none";
  return failed(
    `There is no MCP server ${truncate(String(server), MAX_FIELD)} with resources. Servers with resources: ${names}.`,
  );
}

async function listOf(sources: readonly Source[], signal: AbortSignal): Promise<CallResult> {
  const rows: unknown[] = [];
  for (const source of sources) {
    // Expected: a server that fails. The resources of the others are still listed.
    try {
      await collect(source, rows, signal);
    } catch (thrown) {
      if (!(thrown instanceof McpFailure) || signal.aborted || sources.length === 1) throw thrown;
      rows.push({ server: source.name, error: thrown.message });
    }
  }
  const text = modelText(rows.map((row) => JSON.stringify(row)).join("\n"));
  return { isError: false, result: boundedJson({ resources: rows }, STORED_BOUNDS), text: text || "(none)" };
}

async function collect({ name, connection }: Source, rows: unknown[], signal: AbortSignal): Promise<void> {
  for (const kind of ["resources", "resourceTemplates"] as const) {
    for await (const raw of connection.resources(kind, signal)) {
      if (rows.length >= MAX_RESOURCES) return;
      if (isRecord(raw)) rows.push({ server: name, ...fieldsOf(raw) });
    }
  }
}

function fieldsOf(raw: Record<string, unknown>): Record<string, string> {
  const given = FIELDS.flatMap((field) => {
    const value = raw[field];
    return typeof value === "string" ? [[field, truncate(value, MAX_FIELD)] as const] : [];
  });
  return Object.fromEntries(given);
}
