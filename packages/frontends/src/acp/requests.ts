import type { RequestRow } from "@flint/protocol";
import { foreignObject, nullish, request } from "@flint/protocol";
import * as z from "zod/mini";

const ofSession = { sessionId: z.string() };
const Empty = foreignObject({});

const Named = z.array(foreignObject({ name: z.string(), value: z.string() }));

/** An MCP server as clients describe it; without a `type` it is a program. */
export const ClientMcpServer = z.union([
  foreignObject({
    type: z.enum(["http", "sse"]),
    name: z.string(),
    url: z.string(),
    headers: nullish(Named),
  }),
  foreignObject({
    type: nullish(z.literal("stdio")),
    name: z.string(),
    command: z.string(),
    args: nullish(z.array(z.string())),
    env: nullish(Named),
  }),
]);
export type ClientMcpServer = z.output<typeof ClientMcpServer>;

/** One piece of a prompt. */
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

/** What a client wants the agent to know beside its own instructions; to replace those is not offered. */
const SystemPrompt = foreignObject({
  mode: z.literal("append"),
  content: z.array(foreignObject({ type: z.literal("text"), text: z.string() })).check(z.minLength(1)),
});

const SessionPlace = {
  cwd: Folder,
  systemPrompt: nullish(SystemPrompt),
  _meta: z.optional(z.unknown()),
  additionalDirectories: nullish(z.array(Folder)),
  mcpServers: nullish(z.array(ClientMcpServer)),
};
/** Only those who take up a session may leave the servers out. */
const NewPlace = { ...SessionPlace, mcpServers: z.array(ClientMcpServer) };

const Flags = nullish(z.looseObject({}));

/** What a client can do, in either version of the protocol. */
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

const prompt = z.array(PromptBlock).check(z.minLength(1, "must hold at least one block"));
const SessionState = foreignObject({
  sessionId: z.string(),
  modes: nullish(z.unknown()),
  models: nullish(z.unknown()),
  configOptions: nullish(z.array(z.unknown())),
});
const OpenedState = foreignObject({
  modes: nullish(z.unknown()),
  models: nullish(z.unknown()),
  configOptions: nullish(z.array(z.unknown())),
});

/** What clients of the first version may ask. */
export const ACP_REQUESTS = {
  initialize: request(
    "Say hello and agree on a version.",
    () =>
      foreignObject({
        protocolVersion: z.number(),
        clientCapabilities: nullish(ClientCapabilitiesInput),
        clientInfo: nullish(foreignObject({ name: z.string(), version: nullish(z.string()) })),
        info: nullish(foreignObject({ name: z.string(), version: nullish(z.string()) })),
        capabilities: nullish(ClientCapabilitiesInput),
      }),
    () => foreignObject({ protocolVersion: z.number() }),
  ),
  authenticate: request(
    "Log in by one of the methods that `initialize` named.",
    () => foreignObject({ methodId: z.string() }),
    () => Empty,
  ),
  logout: request(
    "Forget who is logged in.",
    () => Empty,
    () => Empty,
  ),
  "session/new": request(
    "Begin a conversation in a folder.",
    () => foreignObject(NewPlace),
    () => SessionState,
  ),
  "session/load": request(
    "Take up a stored conversation; its history comes as updates before the answer.",
    () => foreignObject({ ...ofSession, ...NewPlace }),
    () => OpenedState,
  ),
  "session/resume": request(
    "Take up a stored conversation without its history.",
    () =>
      foreignObject({
        ...ofSession,
        ...SessionPlace,
        replayFrom: nullish(foreignObject({ type: z.string() })),
      }),
    () => OpenedState,
  ),
  "session/list": request(
    "The conversations, newest first.",
    () => foreignObject({ cwd: nullish(z.string()), cursor: nullish(z.string()) }),
    () => foreignObject({ sessions: z.array(z.unknown()), nextCursor: nullish(z.string()) }),
  ),
  "session/delete": request(
    "Delete a conversation for good.",
    () => foreignObject(ofSession),
    () => Empty,
  ),
  "session/close": request(
    "Leave a conversation; its work stops if nobody else follows it.",
    () => foreignObject(ofSession),
    () => Empty,
  ),
  "session/prompt": request(
    "Send a prompt. The answer comes when the turn has ended.",
    () => foreignObject({ ...ofSession, prompt }),
    () => foreignObject({ stopReason: z.string() }),
  ),
  "session/set_mode": request(
    "Choose what the agent may do unasked.",
    () => foreignObject({ ...ofSession, modeId: z.string() }),
    () => Empty,
  ),
  "session/set_model": request(
    "Choose the model, as clients did before config options.",
    () => foreignObject({ ...ofSession, modelId: z.string() }),
    () => Empty,
  ),
  "session/set_config_option": request(
    "Set a config option. Answers all of them.",
    () => foreignObject({ ...ofSession, configId: z.string(), value: z.union([z.string(), z.boolean()]) }),
    () => foreignObject({ configOptions: z.array(z.unknown()) }),
  ),
  "session/fork": request(
    "A new conversation with the history of another.",
    () => foreignObject({ ...ofSession, ...SessionPlace }),
    () => SessionState,
  ),
  "auth/login": request(
    "Log in, as it is called in the second version.",
    () => foreignObject({ methodId: z.string() }),
    () => Empty,
  ),
  "auth/logout": request(
    "Log out, as it is called in the second version.",
    () => Empty,
    () => Empty,
  ),
  "session/status": request(
    "Whether a conversation is open or only saved.",
    () => foreignObject(ofSession),
    () => foreignObject({ status: z.string() }),
  ),
  "session/set_title": request(
    "Name a conversation.",
    () => foreignObject({ ...ofSession, title: z.string().check(z.minLength(1), z.maxLength(500)) }),
    () => foreignObject({ title: z.string() }),
  ),
  "auth/status": request(
    "Who the agent works as.",
    () => Empty,
    () => foreignObject({ state: z.string() }),
  ),
  "_session/steering": request(
    "Give input to the running turn.",
    () => foreignObject({ ...ofSession, prompt }),
    () => foreignObject({ outcome: z.string() }),
  ),
} as const;

/** What only one of the versions knows. */
const ONLY: Readonly<Record<string, 1 | 2>> = {
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
  return Object.keys(ACP_REQUESTS).filter((name) => (ONLY[name] ?? version) === version);
}

/** What a request takes in a version: in the second, nobody has to say that there are no MCP servers. */
export function rowOf(name: AcpRequest, version: 1 | 2): RequestRow {
  return version === 2 && name === "session/new" ? NEW_V2 : ACP_REQUESTS[name];
}

const NEW_V2 = request(
  "Begin a conversation in a folder.",
  () => foreignObject(SessionPlace),
  () => SessionState,
);

/** The name of a request. */
export type AcpRequest = keyof typeof ACP_REQUESTS;
/** What a request takes. */
export type AcpParams<Name extends AcpRequest> = z.output<(typeof ACP_REQUESTS)[Name]["params"]>;
