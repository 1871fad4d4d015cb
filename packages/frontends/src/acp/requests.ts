import type { RequestRow } from "@flint/protocol";
import { loose, maybe, request } from "@flint/protocol";
import * as z from "zod/mini";

const ofSession = { sessionId: z.string() };
const Empty = loose({});

const Named = z.array(loose({ name: z.string(), value: z.string() }));

/** An MCP server as clients describe it; without a `type` it is a program. */
export const ClientMcpServer = z.union([
  loose({ type: z.enum(["http", "sse"]), name: z.string(), url: z.string(), headers: maybe(Named) }),
  loose({
    type: maybe(z.literal("stdio")),
    name: z.string(),
    command: z.string(),
    args: maybe(z.array(z.string())),
    env: maybe(Named),
  }),
]);
export type ClientMcpServer = z.output<typeof ClientMcpServer>;

/** One piece of a prompt. */
export const PromptBlock = z.union([
  loose({ type: z.literal("text"), text: z.string() }),
  loose({ type: z.literal("image"), data: z.string(), mimeType: z.string(), uri: maybe(z.string()) }),
  loose({ type: z.literal("audio"), data: z.string(), mimeType: z.string() }),
  loose({ type: z.literal("resource_link"), uri: z.string(), name: z.string() }),
  loose({
    type: z.literal("resource"),
    resource: loose({
      uri: z.string(),
      text: maybe(z.string()),
      blob: maybe(z.string()),
      mimeType: maybe(z.string()),
    }),
  }),
]);
export type PromptBlock = z.output<typeof PromptBlock>;

const Folder = z.string().check(z.startsWith("/", "must be an absolute path"), z.maxLength(4096));

/** What a client wants the agent to know beside its own instructions; to replace those is not offered. */
const SystemPrompt = loose({
  mode: z.literal("append"),
  content: z.array(loose({ type: z.literal("text"), text: z.string() })).check(z.minLength(1)),
});

const SessionPlace = {
  cwd: Folder,
  systemPrompt: maybe(SystemPrompt),
  _meta: z.optional(z.unknown()),
  additionalDirectories: maybe(z.array(Folder)),
  mcpServers: maybe(z.array(ClientMcpServer)),
};
/** Only those who take up a session may leave the servers out. */
const NewPlace = { ...SessionPlace, mcpServers: z.array(ClientMcpServer) };

const Flags = maybe(z.looseObject({}));

/** What a client can do, in either version of the protocol. */
export const ClientAbilitiesInput = loose({
  fs: maybe(loose({ readTextFile: maybe(z.boolean()), writeTextFile: maybe(z.boolean()) })),
  terminal: maybe(z.boolean()),
  session: maybe(
    loose({ compaction: Flags, notices: Flags, configOptions: maybe(loose({ boolean: Flags })) }),
  ),
  auth: maybe(z.looseObject({})),
  elicitation: maybe(loose({ form: Flags, url: Flags })),
  _meta: Flags,
});
export type ClientAbilitiesInput = z.output<typeof ClientAbilitiesInput>;

const prompt = z.array(PromptBlock).check(z.minLength(1, "must hold at least one block"));
const SessionState = loose({
  sessionId: z.string(),
  modes: maybe(z.unknown()),
  models: maybe(z.unknown()),
  configOptions: maybe(z.array(z.unknown())),
});
const OpenedState = loose({
  modes: maybe(z.unknown()),
  models: maybe(z.unknown()),
  configOptions: maybe(z.array(z.unknown())),
});

/** What clients of the first version may ask. */
export const ACP_REQUESTS = {
  initialize: request(
    "Say hello and agree on a version.",
    () =>
      loose({
        protocolVersion: z.number(),
        clientCapabilities: maybe(ClientAbilitiesInput),
        clientInfo: maybe(loose({ name: z.string(), version: maybe(z.string()) })),
        info: maybe(loose({ name: z.string(), version: maybe(z.string()) })),
        capabilities: maybe(ClientAbilitiesInput),
      }),
    () => loose({ protocolVersion: z.number() }),
  ),
  authenticate: request(
    "Log in by one of the methods that `initialize` named.",
    () => loose({ methodId: z.string() }),
    () => Empty,
  ),
  logout: request(
    "Forget who is logged in.",
    () => Empty,
    () => Empty,
  ),
  "session/new": request(
    "Begin a conversation in a folder.",
    () => loose(NewPlace),
    () => SessionState,
  ),
  "session/load": request(
    "Take up a stored conversation; its history comes as updates before the answer.",
    () => loose({ ...ofSession, ...NewPlace }),
    () => OpenedState,
  ),
  "session/resume": request(
    "Take up a stored conversation without its history.",
    () => loose({ ...ofSession, ...SessionPlace, replayFrom: maybe(loose({ type: z.string() })) }),
    () => OpenedState,
  ),
  "session/list": request(
    "The conversations, newest first.",
    () => loose({ cwd: maybe(z.string()), cursor: maybe(z.string()) }),
    () => loose({ sessions: z.array(z.unknown()), nextCursor: maybe(z.string()) }),
  ),
  "session/delete": request(
    "Delete a conversation for good.",
    () => loose(ofSession),
    () => Empty,
  ),
  "session/close": request(
    "Leave a conversation; its work stops if nobody else follows it.",
    () => loose(ofSession),
    () => Empty,
  ),
  "session/prompt": request(
    "Send a prompt. The answer comes when the turn has ended.",
    () => loose({ ...ofSession, prompt }),
    () => loose({ stopReason: z.string() }),
  ),
  "session/set_mode": request(
    "Choose what the agent may do unasked.",
    () => loose({ ...ofSession, modeId: z.string() }),
    () => Empty,
  ),
  "session/set_model": request(
    "Choose the model, as clients did before config options.",
    () => loose({ ...ofSession, modelId: z.string() }),
    () => Empty,
  ),
  "session/set_config_option": request(
    "Set a config option. Answers all of them.",
    () => loose({ ...ofSession, configId: z.string(), value: z.union([z.string(), z.boolean()]) }),
    () => loose({ configOptions: z.array(z.unknown()) }),
  ),
  "session/fork": request(
    "A new conversation with the history of another.",
    () => loose({ ...ofSession, ...SessionPlace }),
    () => SessionState,
  ),
  "auth/login": request(
    "Log in, as it is called in the second version.",
    () => loose({ methodId: z.string() }),
    () => Empty,
  ),
  "auth/logout": request(
    "Log out, as it is called in the second version.",
    () => Empty,
    () => Empty,
  ),
  "session/status": request(
    "Whether a conversation is open or only saved.",
    () => loose(ofSession),
    () => loose({ status: z.string() }),
  ),
  "session/set_title": request(
    "Name a conversation.",
    () => loose({ ...ofSession, title: z.string().check(z.minLength(1), z.maxLength(500)) }),
    () => loose({ title: z.string() }),
  ),
  "auth/status": request(
    "Who the agent works as.",
    () => Empty,
    () => loose({ state: z.string() }),
  ),
  "_session/steering": request(
    "Give input to the running turn.",
    () => loose({ ...ofSession, prompt }),
    () => loose({ outcome: z.string() }),
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
  () => loose(SessionPlace),
  () => SessionState,
);

/** The name of a request. */
export type AcpRequest = keyof typeof ACP_REQUESTS;
/** What a request takes. */
export type AcpParams<Name extends AcpRequest> = z.output<(typeof ACP_REQUESTS)[Name]["params"]>;
