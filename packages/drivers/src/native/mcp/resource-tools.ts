import type { Clock } from "@flint/core/ports";
import { failed, type Tool, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import { boundedJson, cut, cutMiddle, isObject } from "./bounded-json.ts";
import { type CallAnswer, readResourceResult, TEXT_FOR_MODEL } from "./call-result.ts";
import type { McpConnection } from "./connection.ts";
import { McpFailure } from "./failure.ts";
import { McpCall } from "./mcp-call.ts";
import type { McpServer } from "./mcp-server.ts";

const MOST_RESOURCES = 500;
const LONGEST_FIELD = 500;
const KEPT_BOUNDS = { depth: 4, characters: 256 * 1024 };
const FIELDS = ["uri", "uriTemplate", "name", "title", "description", "mimeType"];

type Input = Readonly<Record<string, unknown>>;

/** A server that has resources, with its connection at this moment. */
interface Source {
  readonly name: string;
  readonly connection: McpConnection;
}

/** The tools by which a model reaches the resources of servers; none if no server has any. */
export function resourceTools(servers: readonly McpServer[], clock: Clock): readonly Tool[] {
  return sourcesOf(servers).length === 0
    ? []
    : [new ListResources(servers, clock), new ReadResource(servers, clock)];
}

class ListResources implements Tool {
  readonly name = "list_mcp_resources";
  readonly description = "Lists the resources that MCP servers offer, of one server or of all.";
  readonly parameters = {
    type: "object",
    properties: { server: { type: "string", description: "The name of the server; all if left out." } },
  };
  readonly readOnly = false;
  readonly #servers: readonly McpServer[];
  readonly #clock: Clock;

  constructor(servers: readonly McpServer[], clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
  }

  async run(input: Input, context: ToolContext): Promise<ToolOutcome> {
    const { server } = input;
    const all = sourcesOf(this.#servers);
    const sources = server === undefined ? all : all.filter(({ name }) => name === server);
    if (sources.length === 0) return noSuchServer(server, all);
    const target = {
      server: sources.map(({ name }) => name).join(", "),
      tool: this.name,
      asks: "agent" as const,
      perform: (_input: Input, { signal }: { readonly signal: AbortSignal }) => listOf(sources, signal),
    };
    return McpCall.run(target, input, context, this.#clock);
  }
}

class ReadResource implements Tool {
  readonly name = "read_mcp_resource";
  readonly description = "Reads a resource of an MCP server by its URI.";
  readonly parameters = {
    type: "object",
    properties: { server: { type: "string" }, uri: { type: "string" } },
    required: ["server", "uri"],
  };
  readonly readOnly = false;
  readonly #servers: readonly McpServer[];
  readonly #clock: Clock;

  constructor(servers: readonly McpServer[], clock: Clock) {
    this.#servers = servers;
    this.#clock = clock;
  }

  async run(input: Input, context: ToolContext): Promise<ToolOutcome> {
    const { server, uri } = input;
    if (typeof uri !== "string" || uri === "") return failed("read_mcp_resource needs a uri.");
    const all = sourcesOf(this.#servers);
    const source = all.find(({ name }) => name === server);
    if (source === undefined) return noSuchServer(server, all);
    const target = {
      server: source.name,
      tool: this.name,
      asks: "agent" as const,
      perform: async (_input: Input, listener: Parameters<McpConnection["readResource"]>[1]) =>
        readResourceResult(await source.connection.readResource(uri, listener)),
    };
    return McpCall.run(target, input, context, this.#clock);
  }
}

function sourcesOf(servers: readonly McpServer[]): readonly Source[] {
  return servers.flatMap(({ name, connection }) =>
    connection?.hasResources === true ? [{ name, connection }] : [],
  );
}

function noSuchServer(server: unknown, sources: readonly Source[]): ToolOutcome {
  const names = sources.map(({ name }) => name).join(", ") || "none";
  return failed(
    `There is no MCP server ${cut(String(server), LONGEST_FIELD)} with resources. There is: ${names}.`,
  );
}

async function listOf(sources: readonly Source[], signal: AbortSignal): Promise<CallAnswer> {
  const rows: unknown[] = [];
  for (const source of sources) {
    // Expected: a server that fails. What the others offer is still of use.
    try {
      await collect(source, rows, signal);
    } catch (thrown) {
      if (!(thrown instanceof McpFailure) || signal.aborted || sources.length === 1) throw thrown;
      rows.push({ server: source.name, error: thrown.message });
    }
  }
  const text = cutMiddle(rows.map((row) => JSON.stringify(row)).join("\n"), TEXT_FOR_MODEL);
  return { isError: false, result: boundedJson({ resources: rows }, KEPT_BOUNDS), text: text || "(none)" };
}

async function collect({ name, connection }: Source, rows: unknown[], signal: AbortSignal): Promise<void> {
  for (const kind of ["resources", "resourceTemplates"] as const) {
    for await (const raw of connection.resources(kind, signal)) {
      if (rows.length >= MOST_RESOURCES) return;
      if (isObject(raw)) rows.push({ server: name, ...fieldsOf(raw) });
    }
  }
}

function fieldsOf(raw: Record<string, unknown>): Record<string, string> {
  const given = FIELDS.flatMap((field) => {
    const value = raw[field];
    return typeof value === "string" ? [[field, cut(value, LONGEST_FIELD)] as const] : [];
  });
  return Object.fromEntries(given);
}
