import { join } from "node:path";

/** One request about the machine: the name of the step, the method, and what it is asked with. */
export type HostStep = readonly [step: string, method: string, params: unknown];

/**
 * Requests of clients to a server of Codex about its machine, valid and invalid, in a workspace with a file
 * `a.txt`.
 */
export function hostScript(workspace: string): readonly HostStep[] {
  return [...sensible(workspace), ...malformed(workspace)];
}

function sensible(workspace: string): HostStep[] {
  const edit = { keyPath: "tui.theme", value: "dark", mergeStrategy: "replace" };
  const policy = { type: "dangerFullAccess" };
  return [
    plain("configRequirements/read"),
    plain("config/read"),
    ["config/read with layers", "config/read", { includeLayers: true, cwd: workspace }],
    ["config/value/write", "config/value/write", edit],
    ["config/batchWrite", "config/batchWrite", { edits: [edit] }],
    plain("config/mcpServer/reload"),
    ["skills/list", "skills/list", { cwds: [workspace] }],
    ["hooks/list", "hooks/list", { cwds: [workspace] }],
    plain("plugin/list"),
    plain("collaborationMode/list"),
    plain("permissionProfile/list"),
    plain("experimentalFeature/list"),
    plain("mcpServerStatus/list"),
    plain("account/read"),
    plain("account/rateLimits/read"),
    plain("account/bedrock/checkGovCloudRequirements"),
    ["account/login/cancel", "account/login/cancel", { loginId: "01990000-0000-7000-8000-000000000000" }],
    plain("account/logout"),
    plain("getAuthStatus"),
    ["a command that works", "command/exec", { command: ["echo", "hi"], sandboxPolicy: policy }],
    ["a command that fails", "command/exec", { command: ["false"], sandboxPolicy: policy }],
    ["fs/readFile", "fs/readFile", { path: join(workspace, "a.txt") }],
    ["fuzzyFileSearch", "fuzzyFileSearch", { query: "a", roots: [workspace] }],
    ["gitDiffToRemote", "gitDiffToRemote", { cwd: join(workspace, "repository") }],
  ];
}

function malformed(workspace: string): HostStep[] {
  return [
    ["a login of no kind", "account/login/start", {}],
    ["a login of a kind that does not exist", "account/login/start", { type: "handshake" }],
    ["cancelling without a login", "account/login/cancel", {}],
    ["cancelling a login of no UUID", "account/login/cancel", { loginId: "x" }],
    ["no command", "command/exec", { command: [] }],
    ["a command that is text", "command/exec", { command: "true" }],
    ["a command that does not exist", "command/exec", { command: ["/nowhere/at/all"] }],
    ["a file that is not there", "fs/readFile", { path: join(workspace, "missing.txt") }],
    ["a file by a relative path", "fs/readFile", { path: "a.txt" }],
    ["a folder as a file", "fs/readFile", { path: workspace }],
    ["a search for nothing", "fuzzyFileSearch", { query: "", roots: [workspace] }],
    ["a search without roots", "fuzzyFileSearch", { query: "a" }],
    ["the changes of no repository", "gitDiffToRemote", { cwd: workspace }],
    ["a setting without a name", "config/value/write", { value: 1, mergeStrategy: "replace" }],
    ["a setting merged in a way that does not exist", "config/value/write", wrongMerge],
    ["edits that are no list", "config/batchWrite", { edits: 7 }],
    ["skills of a number", "skills/list", { cwds: 7 }],
    ["servers after a cursor that was made up", "mcpServerStatus/list", { cursor: "zzz" }],
    ["permissions after a cursor that was made up", "permissionProfile/list", { cursor: "zzz" }],
    ["features after a cursor that was made up", "experimentalFeature/list", { cursor: "zzz" }],
    ["text instead of parameters", "config/read", "x"],
  ];
}

const wrongMerge = { keyPath: "tui.theme", value: "dark", mergeStrategy: "stir" };

function plain(method: string): HostStep {
  return [method, method, {}];
}
