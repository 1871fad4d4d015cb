import type { Clock } from "@flint/core/ports";
import { truncate } from "@flint/core/text";
import { isRecord } from "@flint/protocol";
import type { ToolDescription } from "../models/model.ts";
import { failed, type Tool, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import { boundedJson, cutMiddle } from "./bounded-json.ts";
import { type CallResult, MAX_MODEL_TEXT, readResourceResult } from "./call-result.ts";
import type { McpConnection } from "./connection.ts";
import { McpFailure } from "./failure.ts";
import { type CallTarget, McpCall } from "./mcp-call.ts";
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

/** One thing that a model can do with resources. */
interface ResourceWish extends ToolDescription {
  /** What is to be called for an input, or what is wrong with it. */
  target(input: Input, sources: readonly Source[]): Pick<CallTarget, "server" | "perform"> | ToolOutcome;
}

/** The tools by which a model reaches the resources of servers; none if no server has any. */
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
  readonly #wish: ResourceWish;
  readonly #servers: readonly McpServer[];
  readonly #clock: Clock;

  constructor(wish: ResourceWish, servers: readonly McpServer[], clock: Clock) {
    this.name = wish.name;
    this.description = wish.description;
    this.parameters = wish.parameters;
    this.#wish = wish;
    this.#servers = servers;
    this.#clock = clock;
  }

  async run(input: Input, context: ToolContext): Promise<ToolOutcome> {
    const target = this.#wish.target(input, sourcesOf(this.#servers));
    if (!("perform" in target)) return target;
    return McpCall.run({ ...target, tool: this.name, asks: "agent" }, input, context, this.#clock);
  }
}

const LIST: ResourceWish = {
  name: "list_mcp_resources",
  description: "Lists the resources that MCP servers offer, of one server or of all.",
  parameters: {
    type: "object",
    properties: { server: { type: "string", description: "The name of the server; all if left out." } },
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

const READ: ResourceWish = {
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
    `There is no MCP server ${truncate(String(server), LONGEST_FIELD)} with resources. There is: ${names}.`,
  );
}

async function listOf(sources: readonly Source[], signal: AbortSignal): Promise<CallResult> {
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
  const text = cutMiddle(rows.map((row) => JSON.stringify(row)).join("\n"), MAX_MODEL_TEXT);
  return { isError: false, result: boundedJson({ resources: rows }, KEPT_BOUNDS), text: text || "(none)" };
}

async function collect({ name, connection }: Source, rows: unknown[], signal: AbortSignal): Promise<void> {
  for (const kind of ["resources", "resourceTemplates"] as const) {
    for await (const raw of connection.resources(kind, signal)) {
      if (rows.length >= MOST_RESOURCES) return;
      if (isRecord(raw)) rows.push({ server: name, ...fieldsOf(raw) });
    }
  }
}

function fieldsOf(raw: Record<string, unknown>): Record<string, string> {
  const given = FIELDS.flatMap((field) => {
    const value = raw[field];
    return typeof value === "string" ? [[field, truncate(value, LONGEST_FIELD)] as const] : [];
  });
  return Object.fromEntries(given);
}
