import * as z from "zod/mini";
import { Rule } from "../approval/grant.ts";
import { Permission } from "../approval/permission.ts";
import { ApprovalPolicy, SandboxPolicy, SandboxPolicyInput } from "../approval/policy.ts";
import {
  AgentAccount,
  AgentFeature,
  ConfigOption,
  FolderHooks,
  FolderSkills,
  ListError,
  Model,
  PluginMarketplace,
  SandboxState,
  WorkspaceFile,
} from "../server/config.ts";
import { UsageLimit } from "../server/usage-limit.ts";
import { Id } from "../wire/ids.ts";
import { Empty, looseObject } from "../wire/loose-object.ts";
import { absolutePath, limit, method } from "./method.ts";

/** Capabilities of an agent. */
const Capabilities = looseObject(() => ({
  streaming: z.boolean(),
  configOptions: z.boolean(),
  reasoning: z.boolean(),
  plans: z.boolean(),
  review: z.boolean(),
}));

/** Initialization, models, selectors, rules, accounts, and commands outside of threads. */
export const SERVER_METHODS = {
  initialize: method({
    doc: "Initialize the connection. Must be the first request, and sent once. Provider and capabilities are those of the agent of new threads; `agents` has those of every agent.",
    scope: "none",
    params: () =>
      looseObject({
        clientInfo: looseObject({ name: z.string(), title: z.optional(z.string()), version: z.string() }),
        capabilities: z.optional(
          looseObject({
            experimentalApi: z.optional(z.boolean()),
            /**
             * True if the client gets the status, names and ends of all threads, also of those it is not
             * subscribed to.
             */
            threadList: z.optional(z.boolean()),
            /** Notifications that the client does not want. */
            optOutNotificationMethods: z.optional(z.array(z.string())),
          }),
        ),
      }),
    result: () =>
      looseObject({
        agentInfo: looseObject({ name: z.string(), version: z.string(), provider: z.string() }),
        capabilities: Capabilities,
        agents: z.optional(
          z.array(
            looseObject({
              id: z.string(),
              displayName: z.string(),
              provider: z.string(),
              capabilities: Capabilities,
            }),
          ),
        ),
      }),
  }),
  "command/exec": method({
    doc: "Run a command in the sandbox, outside of threads.",
    scope: "none",
    params: () =>
      looseObject({
        command: z.array(z.string()).check(z.minLength(1)),
        cwd: z.optional(absolutePath),
        sandboxPolicy: z.optional(SandboxPolicyInput),
        timeoutMs: z.optional(z.int().check(z.minimum(1), z.maximum(3_600_000))),
      }),
    result: () =>
      looseObject({
        exitCode: z.number(),
        stdout: z.string(),
        stderr: z.string(),
        timedOut: z.boolean(),
        omittedOutputBytes: z.optional(z.number()),
        /** Denials of the sandbox, as far as they are known, and the permissions it would need. */
        denials: z.optional(z.array(looseObject({ evidence: z.string(), needs: z.optional(Permission) }))),
      }),
  }),
  "model/list": method({
    doc: "List the models that threads can use.",
    scope: "none",
    params: () => looseObject({ limit }),
    result: () => looseObject({ data: z.array(Model) }),
  }),
  "config/list": method({
    doc: "List the selectors of the agent, for a thread or for new threads, with their model or another one.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id), model: z.optional(z.string()) }),
    result: () => looseObject({ options: z.array(ConfigOption) }),
  }),
  "config/set": method({
    doc: "Set a selector. Answers with all of them, because one may change another.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id), id: z.string(), value: z.string() }),
    result: () => looseObject({ options: z.array(ConfigOption) }),
  }),
  "config/read": method({
    doc: "Read the configuration in force, for a thread or for new threads.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id) }),
    result: () =>
      looseObject({
        model: z.string(),
        modelProvider: z.optional(z.string()),
        cwd: z.string(),
        approvalPolicy: ApprovalPolicy,
        sandboxPolicy: SandboxPolicy,
        options: z.array(ConfigOption),
        sandbox: SandboxState,
        durability: z.string(),
      }),
  }),
  "rules/list": method({
    doc: "List the rules, of one project or of all, oldest first. A rule is something that the user always allows.",
    scope: "none",
    params: () => looseObject({ cwd: z.optional(absolutePath) }),
    result: () =>
      looseObject({
        data: z.array(Rule),
        /** Stored rules that are not used, each with the reason. */
        problems: z.optional(z.array(z.string())),
      }),
  }),
  "rules/remove": method({
    doc: "Remove a rule. The user is asked again next time.",
    scope: "none",
    params: () => looseObject({ id: Id }),
    result: () => Empty,
  }),
  "mcpServerStatus/list": method({
    doc: "List the MCP servers of the agent and their status, and those that are configured for it: `notStarted` before the agent has started, `unreported` if it does not report them.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id) }),
    result: () =>
      looseObject({
        data: z.array(
          looseObject({
            name: z.string(),
            status: z.enum(["notStarted", "starting", "ready", "failed", "unreported"]),
            error: z.optional(z.string()),
          }),
        ),
      }),
  }),
  "account/read": method({
    doc: "Read the account that the agent uses, and whether it needs a login. `kind` is set if the agent is not named after its kind, such as `codex`.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id) }),
    result: () =>
      looseObject({
        account: z.nullable(AgentAccount),
        requiresLogin: z.boolean(),
        provider: z.string(),
        agent: z.optional(z.string()),
        kind: z.optional(z.string()),
      }),
  }),
  "account/login/start": method({
    doc: "Log in to an agent, that of new threads unless one is named. `type` and the fields beside it are the agent's own, as in the protocol of Codex. A login that the user finishes elsewhere ends with `account/login/completed`. Rejected, with the command to run, for an agent that logs in only in a terminal.",
    scope: "none",
    params: () => looseObject({ agent: z.optional(z.string()), type: z.string() }),
    result: () =>
      looseObject({
        type: z.string(),
        loginId: z.optional(z.string()),
        /** The page on which the user logs in, in a browser. */
        authUrl: z.optional(z.string()),
        /** The same, where the user then enters `userCode`. */
        verificationUrl: z.optional(z.string()),
        userCode: z.optional(z.string()),
      }),
  }),
  "account/login/cancel": method({
    doc: "Cancel a login that was started and has not ended.",
    scope: "none",
    params: () => looseObject({ agent: z.optional(z.string()), loginId: Id }),
    result: () => looseObject({ status: z.enum(["canceled", "notFound"]) }),
  }),
  "account/logout": method({
    doc: "Log out of an agent, that of new threads unless one is named. Its other programs are logged out, too.",
    scope: "none",
    params: () => looseObject({ agent: z.optional(z.string()) }),
    result: () => Empty,
  }),
  "agent/features/list": method({
    doc: "List the optional features of the agent, as it reports them; empty if it has none.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id) }),
    result: () =>
      looseObject({ agent: z.string(), kind: z.optional(z.string()), data: z.array(AgentFeature) }),
  }),
  "agent/skills/list": method({
    doc: "List the skills of the agent in folders, as it reports them; empty if it has none. Without folders: that of the thread, or of new threads. Those of a project that is not trusted are left out.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id), cwds: z.optional(z.array(absolutePath)) }),
    result: () =>
      looseObject({ agent: z.string(), kind: z.optional(z.string()), data: z.array(FolderSkills) }),
  }),
  "agent/hooks/list": method({
    doc: "List the hooks that the agent runs in folders, as it reports them; empty if it has none. Without folders: that of the thread, or of new threads. Those of a project that is not trusted are left out.",
    scope: "none",
    params: () => looseObject({ threadId: z.optional(Id), cwds: z.optional(z.array(absolutePath)) }),
    result: () =>
      looseObject({ agent: z.string(), kind: z.optional(z.string()), data: z.array(FolderHooks) }),
  }),
  "agent/plugins/list": method({
    doc: "List the plugins of the agent by marketplace, as it reports them; empty if it has none. Marketplaces of folders are listed for the folders that are named; those of a project that is not trusted are left out.",
    scope: "none",
    params: () =>
      looseObject({
        threadId: z.optional(Id),
        cwds: z.optional(z.array(absolutePath)),
        /** Without those that could be installed. */
        installedOnly: z.optional(z.boolean()),
      }),
    result: () =>
      looseObject({
        agent: z.string(),
        kind: z.optional(z.string()),
        data: z.array(PluginMarketplace),
        errors: z.array(ListError),
        /** The ids of those that the agent recommends. */
        featured: z.array(z.string()),
      }),
  }),
  "account/limits/read": method({
    doc: "Read the usage limits of the agents' accounts, as last reported. A running Codex is asked; no agent is started. A limit that has reset since is left out.",
    scope: "none",
    params: () => looseObject({ agent: z.optional(z.string()) }),
    result: () => looseObject({ data: z.array(UsageLimit) }),
  }),
} as const;

const WorkspaceResult = looseObject(() => ({ files: z.array(WorkspaceFile) }));

/** Trust in the configuration files of a workspace. */
export const WORKSPACE_METHODS = {
  "workspace/read": method({
    doc: "Read the files of a folder that could configure Flint, with their content and whether it is trusted.",
    scope: "none",
    params: () => looseObject({ cwd: absolutePath }),
    result: () => WorkspaceResult,
  }),
  "workspace/trust": method({
    doc: "Trust files as they were shown to the user. Rejected for a file whose content has changed since.",
    scope: "none",
    params: () =>
      looseObject({
        cwd: absolutePath,
        files: z.array(looseObject({ path: z.string(), sha256: z.string() })).check(z.minLength(1)),
      }),
    result: () => WorkspaceResult,
  }),
  "workspace/distrust": method({
    doc: "Remove trust from the files of a folder.",
    scope: "none",
    params: () => looseObject({ cwd: absolutePath }),
    result: () => WorkspaceResult,
  }),
} as const;
