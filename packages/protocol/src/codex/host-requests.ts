import * as z from "zod/mini";
import { foreignObject, nullish, request } from "../wire/foreign-wire.ts";
import { CodexSandboxPolicyInput } from "./values.ts";

const folders = { cwds: nullish(z.array(z.string())) };
const paged = { cursor: nullish(z.string()), limit: nullish(z.number()) };
const list = () => foreignObject({ data: z.array(z.unknown()), nextCursor: nullish(z.string()) });
const nothing = () => foreignObject({});
const anything = z.record(z.string(), z.unknown());

/** One value of the configuration, by its dotted path. */
const Edit = {
  keyPath: z.string(),
  value: z.unknown(),
  mergeStrategy: nullish(z.enum(["replace", "upsert"])),
};
const Written = () =>
  foreignObject({
    status: z.enum(["ok", "okOverridden"]),
    version: z.string(),
    filePath: z.string(),
    overriddenMetadata: z.nullable(z.unknown()),
  });
const place = { filePath: nullish(z.string()), expectedVersion: nullish(z.string()) };

/** The settings of Codex and what clients remember in them. */
const SETTINGS = {
  "configRequirements/read": request("What the settings must not be.", nothing, () =>
    foreignObject({
      requirements: z.nullable(z.unknown()),
      supportsIndependentSpeedModes: nullish(z.boolean()),
    }),
  ),
  "config/read": request(
    "The settings in force.",
    () => foreignObject({ includeLayers: nullish(z.boolean()), cwd: nullish(z.string()) }),
    () => foreignObject({ config: anything, origins: anything, layers: nullish(z.array(z.unknown())) }),
  ),
  "config/value/write": request("Keeps one value.", () => foreignObject({ ...Edit, ...place }), Written),
  "config/batchWrite": request(
    "Keeps several values, all or none.",
    () =>
      foreignObject({
        edits: z.array(foreignObject(Edit)),
        ...place,
        reloadUserConfig: nullish(z.boolean()),
      }),
    Written,
  ),
  "config/mcpServer/reload": request("Has the MCP servers of new threads read again.", nothing, nothing),
} as const;

/** Things that Codex has and Flint has none of; an empty list is the truth. */
const LISTS = {
  "skills/list": request("The skills there are, by folder.", () => foreignObject(folders), list),
  "hooks/list": request("The hooks there are, by folder.", () => foreignObject(folders), list),
  "plugin/list": request(
    "The plugins there are.",
    () => foreignObject(folders),
    () =>
      foreignObject({
        marketplaces: z.array(z.unknown()),
        marketplaceLoadErrors: z.array(z.unknown()),
        featuredPluginIds: z.array(z.string()),
      }),
  ),
  "collaborationMode/list": request("The ways of working together.", nothing, list),
  "permissionProfile/list": request("The named sets of permissions.", () => foreignObject(paged), list),
  "experimentalFeature/list": request("Features that are not finished.", () => foreignObject(paged), list),
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
    foreignObject({ rateLimits: anything }),
  ),
  "account/login/start": request(
    "Begins to log in.",
    () => foreignObject({ type: z.enum(LOGINS) }),
    () => foreignObject({ type: z.string() }),
  ),
  "account/login/cancel": request(
    "Gives up logging in.",
    () => foreignObject({ loginId: z.string() }),
    () => foreignObject({ status: z.enum(["canceled", "notFound"]) }),
  ),
  "account/logout": request("Logs out.", nothing, nothing),
  "account/bedrock/checkGovCloudRequirements": request(
    "Whether a cloud of a government is used.",
    nothing,
    () => foreignObject({ isGovCloud: z.boolean(), shouldWarn: z.boolean() }),
  ),
  getAuthStatus: request(
    "How Codex is logged in, in the words of earlier versions.",
    () => foreignObject({ includeToken: nullish(z.boolean()), refreshToken: nullish(z.boolean()) }),
    () =>
      foreignObject({
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
      foreignObject({
        command: z.array(z.string()),
        cwd: nullish(z.string()),
        timeoutMs: nullish(z.number()),
        sandboxPolicy: nullish(CodexSandboxPolicyInput),
        tty: nullish(z.boolean()),
        streamStdin: nullish(z.boolean()),
        streamStdoutStderr: nullish(z.boolean()),
        env: nullish(z.record(z.string(), nullish(z.string()))),
      }),
    () => foreignObject({ exitCode: z.number(), stdout: z.string(), stderr: z.string() }),
  ),
  "fs/readFile": request(
    "The content of a file.",
    () => foreignObject({ path: z.string() }),
    () => foreignObject({ dataBase64: z.string() }),
  ),
  fuzzyFileSearch: request(
    "Files whose paths hold the typed letters, best first.",
    () =>
      foreignObject({
        query: z.string(),
        roots: z.array(z.string()),
        cancellationToken: nullish(z.string()),
      }),
    () =>
      foreignObject({
        files: z.array(
          foreignObject({
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
    () => foreignObject({ cwd: z.string() }),
    () => foreignObject({ sha: z.string(), diff: z.string() }),
  ),
} as const;

/** What clients ask about the machine, the account and the settings of Codex. */
export const CODEX_HOST_REQUESTS = { ...SETTINGS, ...LISTS, ...ACCOUNTS, ...MACHINE } as const;
/** The name of such a request. */
export type CodexHostRequest = keyof typeof CODEX_HOST_REQUESTS;
