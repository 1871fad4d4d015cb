import * as z from "zod/mini";
import { ConfigOption, Model, SandboxState } from "../config.ts";
import { Id } from "../ids.ts";
import { Empty, open } from "../open.ts";
import { ApprovalPolicy, SandboxPolicy, SandboxPolicyInput } from "../policy.ts";
import { Rule } from "../rules.ts";
import { absolutePath, limit, row } from "./row.ts";

/** The greeting, models, selectors, rules, accounts, and commands outside of any thread. */
export const SERVER_METHODS = {
  initialize: row(
    "Say hello. Has to come first, and once.",
    "none",
    () =>
      open({
        clientInfo: open({ name: z.string(), title: z.optional(z.string()), version: z.string() }),
        capabilities: z.optional(open({ experimentalApi: z.optional(z.boolean()) })),
      }),
    () =>
      open({
        agentInfo: open({ name: z.string(), version: z.string(), provider: z.string() }),
        capabilities: open({
          streaming: z.boolean(),
          configOptions: z.boolean(),
          reasoning: z.boolean(),
          plans: z.boolean(),
          review: z.boolean(),
        }),
      }),
  ),
  "command/exec": row(
    "Run one command in the sandbox, outside of any thread.",
    "none",
    () =>
      open({
        command: z.array(z.string()).check(z.minLength(1)),
        cwd: z.optional(absolutePath),
        sandboxPolicy: z.optional(SandboxPolicyInput),
        timeoutMs: z.optional(z.int().check(z.minimum(1), z.maximum(3_600_000))),
      }),
    () =>
      open({
        exitCode: z.number(),
        stdout: z.string(),
        stderr: z.string(),
        timedOut: z.boolean(),
        omittedOutputBytes: z.optional(z.number()),
      }),
  ),
  "model/list": row(
    "The models that threads can use.",
    "none",
    () => open({ limit }),
    () => open({ data: z.array(Model) }),
  ),
  "config/list": row(
    "The selectors of the agent, for a thread or for new threads, with the model they have or with another.",
    "none",
    () => open({ threadId: z.optional(Id), model: z.optional(z.string()) }),
    () => open({ options: z.array(ConfigOption) }),
  ),
  "config/set": row(
    "Set a selector. Answers all of them, because one may change another.",
    "none",
    () => open({ threadId: z.optional(Id), id: z.string(), value: z.string() }),
    () => open({ options: z.array(ConfigOption) }),
  ),
  "config/read": row(
    "The configuration in force, for a thread or for new threads.",
    "none",
    () => open({ threadId: z.optional(Id) }),
    () =>
      open({
        model: z.string(),
        cwd: z.string(),
        approvalPolicy: ApprovalPolicy,
        sandboxPolicy: SandboxPolicy,
        options: z.array(ConfigOption),
        sandbox: SandboxState,
        durability: z.string(),
      }),
  ),
  "rules/list": row(
    "What was allowed for always, in one project or in all of them, oldest first.",
    "none",
    () => open({ cwd: z.optional(absolutePath) }),
    () => open({ data: z.array(Rule) }),
  ),
  "rules/remove": row(
    "Take back what was allowed for always. It is asked about again from the next time on.",
    "none",
    () => open({ id: Id }),
    () => Empty,
  ),
  "mcpServerStatus/list": row(
    "The MCP servers of the agent and how they are.",
    "none",
    () => open({ threadId: z.optional(Id) }),
    () =>
      open({
        data: z.array(
          open({
            name: z.string(),
            status: z.enum(["starting", "ready", "failed"]),
            error: z.optional(z.string()),
          }),
        ),
      }),
  ),
  "account/read": row(
    "Who the agent works as, and whether it needs a login.",
    "none",
    () => open({ threadId: z.optional(Id) }),
    () =>
      open({
        account: z.nullable(open({ type: z.string(), label: z.optional(z.string()) })),
        requiresLogin: z.boolean(),
        provider: z.string(),
      }),
  ),
} as const;
