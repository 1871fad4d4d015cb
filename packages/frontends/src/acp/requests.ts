import type { RequestRow } from "@flint/protocol";
import { foreignObject, nullish, request } from "@flint/protocol";
import * as z from "zod/mini";

const ofSession = { sessionId: z.string() };
const Empty = foreignObject({});

const NameValuePairs = z.array(foreignObject({ name: z.string(), value: z.string() }));

/** A client-provided MCP server; without a `type` it is a stdio server. */
export const ClientMcpServer = z.union([
  foreignObject({
    type: z.enum(["http", "sse"]),
    name: z.string(),
    url: z.string(),
    headers: nullish(NameValuePairs),
  }),
  foreignObject({
    type: nullish(z.literal("stdio")),
    name: z.string(),
    command: z.string(),
    args: nullish(z.array(z.string())),
    env: nullish(NameValuePairs),
  }),
]);
export type ClientMcpServer = z.output<typeof ClientMcpServer>;

/** One content block of a prompt. */
export const PromptBlock = z.union([
  foreignObject({ type: z.literal("text"), text: z.string() }),
  foreignObject({
    type: z.literal("image"),
    data: z.string(),
    mimeType: z.string(),
    uri: nullish(z.string()),
  }),
  foreignObject({ type: z.literal("audio"), data: z.string(), mimeType: z.string() }),
  foreignObject({ type: z.literal("resource_link"), uri: z.string(), name: z.string() }),
  foreignObject({
    type: z.literal("resource"),
    resource: foreignObject({
      uri: z.string(),
      text: nullish(z.string()),
      blob: nullish(z.string()),
      mimeType: nullish(z.string()),
    }),
  }),
]);
export type PromptBlock = z.output<typeof PromptBlock>;

const Folder = z.string().check(z.startsWith("/", "must be an absolute path"), z.maxLength(4096));

/** Instructions that are appended to the agent's own; replacing those is not supported. */
const SystemPrompt = foreignObject({
  mode: z.literal("append"),
  content: z.array(foreignObject({ type: z.literal("text"), text: z.string() })).check(z.minLength(1)),
});

const SessionSetup = {
  cwd: Folder,
  systemPrompt: nullish(SystemPrompt),
  _meta: z.optional(z.unknown()),
  additionalDirectories: nullish(z.array(Folder)),
  mcpServers: nullish(z.array(ClientMcpServer)),
};
/** In version 1, only `session/resume` and `session/fork` may leave out the MCP servers. */
const NewSessionSetup = { ...SessionSetup, mcpServers: z.array(ClientMcpServer) };

const Flags = nullish(z.looseObject({}));

/** The capabilities that clients of either version declare. */
export const ClientCapabilitiesInput = foreignObject({
  fs: nullish(foreignObject({ readTextFile: nullish(z.boolean()), writeTextFile: nullish(z.boolean()) })),
  terminal: nullish(z.boolean()),
  session: nullish(
    foreignObject({
      compaction: Flags,
      notices: Flags,
      configOptions: nullish(foreignObject({ boolean: Flags })),
    }),
  ),
  auth: nullish(z.looseObject({})),
  elicitation: nullish(foreignObject({ form: Flags, url: Flags })),
  _meta: Flags,
});
export type ClientCapabilitiesInput = z.output<typeof ClientCapabilitiesInput>;

const prompt = z.array(PromptBlock).check(z.minLength(1, "must have at least one block"));
const SessionState = foreignObject({
  sessionId: z.string(),
  modes: nullish(z.unknown()),
  models: nullish(z.unknown()),
  configOptions: nullish(z.array(z.unknown())),
});
const OpenSessionState = foreignObject({
  modes: nullish(z.unknown()),
  models: nullish(z.unknown()),
  configOptions: nullish(z.array(z.unknown())),
});

const ClientInfo = foreignObject({
  name: z.string(),
  title: nullish(z.string()),
  version: nullish(z.string()),
});

/** The requests of clients, of both versions. */
export const ACP_REQUESTS = {
  initialize: request(
    "Negotiate the protocol version and capabilities.",
    () =>
      foreignObject({
        protocolVersion: z.number(),
        clientCapabilities: nullish(ClientCapabilitiesInput),
        clientInfo: nullish(ClientInfo),
        info: nullish(ClientInfo),
        capabilities: nullish(ClientCapabilitiesInput),
      }),
    () => foreignObject({ protocolVersion: z.number() }),
  ),
  authenticate: request(
    "Log in with one of the methods that `initialize` lists.",
    () => foreignObject({ methodId: z.string() }),
    () => Empty,
  ),
  logout: request(
    "Log out.",
    () => Empty,
    () => Empty,
  ),
  "session/new": request(
    "Start a session in a folder.",
    () => foreignObject(NewSessionSetup),
    () => SessionState,
  ),
  "session/load": request(
    "Open a stored session; its history is sent as updates before the response.",
    () => foreignObject({ ...ofSession, ...NewSessionSetup }),
    () => OpenSessionState,
  ),
  "session/resume": request(
    "Open a stored session without its history.",
    () =>
      foreignObject({
        ...ofSession,
        ...SessionSetup,
        replayFrom: nullish(foreignObject({ type: z.string() })),
      }),
    () => OpenSessionState,
  ),
  "session/list": request(
    "List sessions, newest first.",
    () => foreignObject({ cwd: nullish(z.string()), cursor: nullish(z.string()) }),
    () => foreignObject({ sessions: z.array(z.unknown()), nextCursor: nullish(z.string()) }),
  ),
  "session/delete": request(
    "Delete a session permanently.",
    () => foreignObject(ofSession),
    () => Empty,
  ),
  "session/close": request(
    "Close a session; its turn stops if no other client is subscribed to it.",
    () => foreignObject(ofSession),
    () => Empty,
  ),
  "session/prompt": request(
    "Send a prompt. In version 1 the response is sent when the turn has ended.",
    () => foreignObject({ ...ofSession, prompt }),
    () => foreignObject({ stopReason: z.string() }),
  ),
  "session/set_mode": request(
    "Set what the agent may do without approval.",
    () => foreignObject({ ...ofSession, modeId: z.string() }),
    () => Empty,
  ),
  "session/set_model": request(
    "Set the model, in the form that preceded config options.",
    () => foreignObject({ ...ofSession, modelId: z.string() }),
    () => Empty,
  ),
  "session/set_config_option": request(
    "Set a config option. The response has all of them.",
    () => foreignObject({ ...ofSession, configId: z.string(), value: z.union([z.string(), z.boolean()]) }),
    () => foreignObject({ configOptions: z.array(z.unknown()) }),
  ),
  "session/fork": request(
    "Start a session with the history of another.",
    () => foreignObject({ ...ofSession, ...SessionSetup }),
    () => SessionState,
  ),
  "auth/login": request(
    "Log in, in version 2.",
    () => foreignObject({ methodId: z.string() }),
    () => Empty,
  ),
  "auth/logout": request(
    "Log out, in version 2.",
    () => Empty,
    () => Empty,
  ),
  "session/status": request(
    "Whether a session is open or only saved.",
    () => foreignObject(ofSession),
    () => foreignObject({ status: z.string() }),
  ),
  "session/set_title": request(
    "Set the title of a session.",
    () => foreignObject({ ...ofSession, title: z.string().check(z.minLength(1), z.maxLength(500)) }),
    () => foreignObject({ title: z.string() }),
  ),
  "auth/status": request(
    "The account that the agent uses.",
    () => Empty,
    () => foreignObject({ state: z.string() }),
  ),
  "_session/steering": request(
    "Add input to the running turn.",
    () => foreignObject({ ...ofSession, prompt }),
    () => foreignObject({ outcome: z.string() }),
  ),
} as const;

/** The requests that only one version has. */
const ONLY_IN: Readonly<Record<string, 1 | 2>> = {
  authenticate: 1,
  logout: 1,
  "session/load": 1,
  "session/set_mode": 1,
  "session/set_model": 1,
  "auth/login": 2,
  "auth/logout": 2,
};

/** The requests of a version. */
export function requestsOf(version: 1 | 2): readonly string[] {
  return Object.keys(ACP_REQUESTS).filter((name) => (ONLY_IN[name] ?? version) === version);
}

/** The row of a request in a version: in version 2, `session/new` may leave out the MCP servers. */
export function rowOf(name: AcpRequest, version: 1 | 2): RequestRow {
  return version === 2 && name === "session/new" ? NEW_SESSION_V2 : ACP_REQUESTS[name];
}

const NEW_SESSION_V2 = request(
  "Start a session in a folder.",
  () => foreignObject(SessionSetup),
  () => SessionState,
);

/** The name of a request. */
export type AcpRequest = keyof typeof ACP_REQUESTS;
/** The params of a request. */
export type AcpParams<Name extends AcpRequest> = z.output<(typeof ACP_REQUESTS)[Name]["params"]>;
