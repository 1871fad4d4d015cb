import * as z from "zod/mini";
import { Budget } from "../approval/budget.ts";
import { GitMode, NetworkSetting } from "../approval/permission.ts";
import { ApprovalPolicy } from "../approval/policy.ts";
import { ConfigValues, ReasoningSummary } from "../thread/thread.ts";
import { Id } from "../wire/ids.ts";
import { LIMITS } from "../wire/limits.ts";
import { lazy, looseObject } from "../wire/loose-object.ts";

/** The queue a method runs in: that of its thread, or none (it may run beside a queued one). */
export type Scope = "thread" | "none";

/** The declaration of a method. Schemas are built on first use: a server answers before it has built them all. */
interface MethodFields<In extends Scope, Params extends z.ZodMiniType, Result extends z.ZodMiniType> {
  readonly doc: string;
  readonly scope: In;
  /** True if it may still change; only clients that ask for experimental methods can use it. */
  readonly experimental?: true;
  readonly params: () => Params;
  readonly result: () => Result;
}

/** Declares one method of `METHODS`. */
export function method<In extends Scope, Params extends z.ZodMiniType, Result extends z.ZodMiniType>(
  fields: MethodFields<In, Params, Result>,
) {
  const params = lazy(fields.params);
  const result = lazy(fields.result);
  return {
    doc: fields.doc,
    scope: fields.scope,
    experimental: fields.experimental === true,
    get params() {
      return params();
    },
    get result() {
      return result();
    },
  };
}

/** The parameters that every method of a thread takes. */
export const threadParams = { threadId: Id };

/** The maximum number of rows of a page. */
export const limit = z.optional(z.int().check(z.minimum(1), z.maximum(LIMITS.page)));

/** A client's own id of a request: the same request with the same id is carried out once. */
export const clientId = z.optional(z.string().check(z.minLength(1), z.maxLength(200)));

/** An absolute path on the machine the server runs on. */
export const absolutePath = z
  .string()
  .check(z.startsWith("/", "must be an absolute path"), z.maxLength(4096));

/** Settings of the thread that a request may override. */
export const settingsOverrides = lazy(() => ({
  model: z.optional(z.string()),
  /** The agent by its name: with its default model, or with the one that `model` names. */
  agent: z.optional(z.string()),
  cwd: z.optional(absolutePath),
  approvalPolicy: z.optional(ApprovalPolicy),
  network: z.optional(NetworkSetting),
  git: z.optional(GitMode),
  acceptEdits: z.optional(z.boolean()),
  acceptCommands: z.optional(z.boolean()),
  config: z.optional(ConfigValues),
  summary: z.optional(ReasoningSummary),
  personality: z.optional(z.string().check(z.minLength(1), z.maxLength(100))),
  budget: z.optional(Budget),
}));

const Strings = z.record(z.string(), z.string());
const ServerName = z.string().check(z.minLength(1), z.maxLength(100));

/** An MCP server that a client provides for one thread. Never stored: its keys stay in memory. */
export const McpServer = z.discriminatedUnion("type", [
  looseObject(() => ({
    type: z.literal("stdio"),
    name: ServerName,
    command: z.string().check(z.minLength(1)),
    args: z.array(z.string()),
    env: Strings,
  })),
  looseObject(() => ({ type: z.literal("http"), name: ServerName, url: z.string(), headers: Strings })),
]);
export type McpServer = z.output<typeof McpServer>;

/** The MCP servers for the agents of a thread, in addition to the configured ones, from the next start of an agent on. */
export const withMcpServers = { mcpServers: z.optional(z.array(McpServer).check(z.maxLength(100))) };
