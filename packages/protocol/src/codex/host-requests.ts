import * as z from "zod/mini";
import { loose, maybe, request } from "../shape.ts";
import { CodexSandboxPolicyInput } from "./values.ts";

const folders = { cwds: maybe(z.array(z.string())) };
const paged = { cursor: maybe(z.string()), limit: maybe(z.number()) };
const list = () => loose({ data: z.array(z.unknown()), nextCursor: maybe(z.string()) });
const nothing = () => loose({});
const anything = z.record(z.string(), z.unknown());

/** One value of the configuration, by its dotted path. */
const Edit = { keyPath: z.string(), value: z.unknown(), mergeStrategy: maybe(z.enum(["replace", "upsert"])) };
const Written = () =>
  loose({
    status: z.enum(["ok", "okOverridden"]),
    version: z.string(),
    filePath: z.string(),
    overriddenMetadata: z.nullable(z.unknown()),
  });
const place = { filePath: maybe(z.string()), expectedVersion: maybe(z.string()) };

/** The settings of Codex and what clients remember in them. */
const SETTINGS = {
  "configRequirements/read": request("What the settings must not be.", nothing, () =>
    loose({ requirements: z.nullable(z.unknown()), supportsIndependentSpeedModes: maybe(z.boolean()) }),
  ),
  "config/read": request(
    "The settings in force.",
    () => loose({ includeLayers: maybe(z.boolean()), cwd: maybe(z.string()) }),
    () => loose({ config: anything, origins: anything, layers: maybe(z.array(z.unknown())) }),
  ),
  "config/value/write": request("Keeps one value.", () => loose({ ...Edit, ...place }), Written),
  "config/batchWrite": request(
    "Keeps several values, all or none.",
    () => loose({ edits: z.array(loose(Edit)), ...place, reloadUserConfig: maybe(z.boolean()) }),
    Written,
  ),
  "config/mcpServer/reload": request("Has the MCP servers of new threads read again.", nothing, nothing),
} as const;

/** Things that Codex has and Flint has none of; an empty list is the truth. */
const LISTS = {
  "skills/list": request("The skills there are, by folder.", () => loose(folders), list),
  "hooks/list": request("The hooks there are, by folder.", () => loose(folders), list),
  "plugin/list": request(
    "The plugins there are.",
    () => loose(folders),
    () =>
      loose({
        marketplaces: z.array(z.unknown()),
        marketplaceLoadErrors: z.array(z.unknown()),
        featuredPluginIds: z.array(z.string()),
      }),
  ),
  "collaborationMode/list": request("The ways of working together.", nothing, list),
  "permissionProfile/list": request("The named sets of permissions.", () => loose(paged), list),
  "experimentalFeature/list": request("Features that are not finished.", () => loose(paged), list),
} as const;

/** The ways to log in to Codex, in its own order. */
const LOGINS = [
  "apiKey",
  "chatgpt",
  "chatgptDeviceCode",
  "chatgptAuthTokens",
  "amazonBedrock",
  "amazonBedrockAccessKeys",
] as const;

/** Who the agents work as. */
const ACCOUNTS = {
  "account/rateLimits/read": request("How much of what is allowed was used.", nothing, () =>
    loose({ rateLimits: anything }),
  ),
  "account/login/start": request(
    "Begins to log in.",
    () => loose({ type: z.enum(LOGINS) }),
    () => loose({ type: z.string() }),
  ),
  "account/login/cancel": request(
    "Gives up logging in.",
    () => loose({ loginId: z.string() }),
    () => loose({ status: z.enum(["canceled", "notFound"]) }),
  ),
  "account/logout": request("Logs out.", nothing, nothing),
  "account/bedrock/checkGovCloudRequirements": request(
    "Whether a cloud of a government is used.",
    nothing,
    () => loose({ isGovCloud: z.boolean(), shouldWarn: z.boolean() }),
  ),
  getAuthStatus: request(
    "How Codex is logged in, in the words of earlier versions.",
    () => loose({ includeToken: maybe(z.boolean()), refreshToken: maybe(z.boolean()) }),
    () =>
      loose({
        authMethod: z.nullable(z.string()),
        authToken: z.nullable(z.string()),
        requiresOpenaiAuth: z.nullable(z.boolean()),
      }),
  ),
} as const;

/** Files and commands outside of any thread. */
const MACHINE = {
  "command/exec": request(
    "Runs one command in the sandbox.",
    () =>
      loose({
        command: z.array(z.string()),
        cwd: maybe(z.string()),
        timeoutMs: maybe(z.number()),
        sandboxPolicy: maybe(CodexSandboxPolicyInput),
        tty: maybe(z.boolean()),
        streamStdin: maybe(z.boolean()),
        streamStdoutStderr: maybe(z.boolean()),
        env: maybe(z.record(z.string(), maybe(z.string()))),
      }),
    () => loose({ exitCode: z.number(), stdout: z.string(), stderr: z.string() }),
  ),
  "fs/readFile": request(
    "The content of a file.",
    () => loose({ path: z.string() }),
    () => loose({ dataBase64: z.string() }),
  ),
  fuzzyFileSearch: request(
    "Files whose paths hold the typed letters, best first.",
    () => loose({ query: z.string(), roots: z.array(z.string()), cancellationToken: maybe(z.string()) }),
    () =>
      loose({
        files: z.array(
          loose({
            root: z.string(),
            path: z.string(),
            match_type: z.enum(["file", "directory"]),
            file_name: z.string(),
            score: z.number(),
            indices: z.nullable(z.array(z.number())),
          }),
        ),
      }),
  ),
  gitDiffToRemote: request(
    "What the working copy has that no remote branch has.",
    () => loose({ cwd: z.string() }),
    () => loose({ sha: z.string(), diff: z.string() }),
  ),
} as const;

/** What clients ask about the machine, the account and the settings of Codex. */
export const CODEX_HOST_REQUESTS = { ...SETTINGS, ...LISTS, ...ACCOUNTS, ...MACHINE } as const;
/** The name of such a request. */
export type CodexHostRequest = keyof typeof CODEX_HOST_REQUESTS;
