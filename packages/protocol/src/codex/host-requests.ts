import * as z from "zod/mini";
import { foreignObject, nullish } from "../wire/loose-object.ts";
import { request } from "../wire/vocabulary.ts";
import { CodexSandboxPolicyInput } from "./policies.ts";

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
const fileVersion = { filePath: nullish(z.string()), expectedVersion: nullish(z.string()) };

/** The configuration of Codex, and what clients write into it. */
const SETTINGS = {
  "configRequirements/read": request("Reads the constraints on the configuration.", nothing, () =>
    foreignObject({
      requirements: z.nullable(z.unknown()),
      supportsIndependentSpeedModes: nullish(z.boolean()),
    }),
  ),
  "config/read": request(
    "Reads the configuration in force.",
    () => foreignObject({ includeLayers: nullish(z.boolean()), cwd: nullish(z.string()) }),
    () => foreignObject({ config: anything, origins: anything, layers: nullish(z.array(z.unknown())) }),
  ),
  "config/value/write": request(
    "Writes one value.",
    () => foreignObject({ ...Edit, ...fileVersion }),
    Written,
  ),
  "config/batchWrite": request(
    "Writes several values, all or none.",
    () =>
      foreignObject({
        edits: z.array(foreignObject(Edit)),
        ...fileVersion,
        reloadUserConfig: nullish(z.boolean()),
      }),
    Written,
  ),
  "config/mcpServer/reload": request("Reloads the MCP servers for new threads.", nothing, nothing),
} as const;

/** Lists of things that Codex has, most of which are empty in Flint. */
const LISTS = {
  "skills/list": request("Lists skills by folder.", () => foreignObject(folders), list),
  "collaborationMode/list": request("Lists collaboration modes.", nothing, list),
  "permissionProfile/list": request("Lists permission profiles.", () => foreignObject(paged), list),
} as const;

/** Further requests of clients about accounts. */
const ACCOUNTS = {
  "account/bedrock/checkGovCloudRequirements": request(
    "Checks whether a government cloud is used.",
    nothing,
    () => foreignObject({ isGovCloud: z.boolean(), shouldWarn: z.boolean() }),
  ),
  getAuthStatus: request(
    "Reads the login, in the form of earlier versions.",
    () => foreignObject({ includeToken: nullish(z.boolean()), refreshToken: nullish(z.boolean()) }),
    () =>
      foreignObject({
        authMethod: z.nullable(z.string()),
        authToken: z.nullable(z.string()),
        requiresOpenaiAuth: z.nullable(z.boolean()),
      }),
  ),
} as const;

/** Files and commands outside of threads. */
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
    "Reads a file.",
    () => foreignObject({ path: z.string() }),
    () => foreignObject({ dataBase64: z.string() }),
  ),
  fuzzyFileSearch: request(
    "Finds files whose paths contain the letters of a query, best match first.",
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
    "Reads the diff between the working copy and the remote branches.",
    () => foreignObject({ cwd: z.string() }),
    () => foreignObject({ sha: z.string(), diff: z.string() }),
  ),
} as const;

/** Requests about the machine, the account and the configuration. */
export const CODEX_HOST_REQUESTS = { ...SETTINGS, ...LISTS, ...ACCOUNTS, ...MACHINE } as const;
