import { FlintError, isRecord, type Method } from "@flint/protocol";

/** The methods for everyone with a right in tasks. */
const READING = [
  "initialize",
  "task/list",
  "task/read",
  "task/diff",
  "task/subscribe",
  "worker/list",
] as const;
const ANSWERING = ["task/answer", "task/approve", "task/reject", "task/steer", "task/publish"] as const;

/** The rights that a token may be limited to, and the methods that each of them allows. */
export const TASK_RIGHTS = {
  "tasks:add": [...READING, "task/add"],
  "tasks:answer": [...READING, ...ANSWERING],
  "tasks:admin": [
    ...[...READING, ...ANSWERING, "task/add"],
    ...(["task/suspend", "task/suspendAll", "task/resume", "task/resumeAll", "task/cancel"] as const),
    ...(["task/retry", "task/merge", "task/remove", "task/clean", "worker/drain"] as const),
  ],
} as const satisfies Readonly<Record<string, readonly Method[]>>;

/** A right that a token may be limited to. */
export type TaskRight = keyof typeof TASK_RIGHTS;

/** Reports whether a text names a right. */
export function isTaskRight(name: string): name is TaskRight {
  return Object.hasOwn(TASK_RIGHTS, name);
}

/** Rights of a client. They follow from how the client connected, never from what it sends. */
export interface ClientRights {
  /** True if it may provide MCP servers that are programs: they are started on this machine, without a sandbox. */
  readonly mayProvidePrograms: boolean;
  /** The only rights it has, looked up for each call: none once its token was revoked. Absent: it is not limited. */
  readonly only?: (() => readonly TaskRight[]) | undefined;
}

/** The rights of a client on stdio or a unix socket: only the user who runs the server can connect there. */
export const LOCAL_RIGHTS: ClientRights = { mayProvidePrograms: true };

/** Reports whether the token of a client is void. */
export function isRevoked({ only }: ClientRights): boolean {
  return only?.().length === 0;
}

/** Returns the reason a call is rejected for a client with these rights; undefined if it is not. */
export function rightsError(rights: ClientRights, method: Method, params: object): FlintError | undefined {
  const rightsLeft = rights.only?.();
  if (rightsLeft !== undefined) return limitError(rightsLeft, method, params);
  return rights.mayProvidePrograms ? undefined : programError(params);
}

function limitError(rights: readonly TaskRight[], method: Method, params: object): FlintError | undefined {
  if (rights.length === 0) return new FlintError("invalidRequest", "This token was revoked.");
  const own = `This token has ${rights.join(" and ")}`;
  const allowed = (right: TaskRight) => includes(TASK_RIGHTS[right], method);
  if (!rights.some(allowed)) {
    const needed = Object.keys(TASK_RIGHTS).filter((name) => isTaskRight(name) && allowed(name));
    const what = needed.length === 0 ? "the server's own token" : needed.join(" or ");
    return new FlintError("invalidRequest", `${own}; ${method} needs ${what}.`);
  }
  if (method !== "task/add") return undefined;
  const tasks = tasksIn(params);
  if (tasks.some(namesAddress)) {
    const message = `${own}; it may name a remote of the repository only by the name that it has there, because the repository is pushed to it.`;
    return new FlintError("invalidRequest", message);
  }
  if (rights.some((right) => right !== "tasks:add") || !tasks.some(sparesAnswer)) return undefined;
  const message = `${own}; approvedBy "reviewer", allow "tools", network and remote need tasks:answer, because no one is asked then.`;
  return new FlintError("invalidRequest", message);
}

function includes(methods: readonly Method[], method: Method): boolean {
  return methods.includes(method);
}

/** The tasks of a request as they were sent, which is not checked yet. */
function tasksIn({ tasks }: { readonly tasks?: unknown }): readonly Record<string, unknown>[] {
  return Array.isArray(tasks) ? tasks.filter(isRecord) : [];
}

/**
 * Reports whether a task would do without asking what the user is otherwise asked about, which is an answer
 * given beforehand.
 */
function sparesAnswer({ approvedBy, allow, network, remote }: Record<string, unknown>): boolean {
  const isOpen = network !== undefined && network !== "none";
  return approvedBy === "reviewer" || allow === "tools" || isOpen || remote !== undefined;
}

/** Reports whether a task names a remote by anything but the name that it has in the repository. */
function namesAddress({ remote }: Record<string, unknown>): boolean {
  if (remote === undefined) return false;
  const url = isRecord(remote) ? remote.url : undefined;
  return typeof url !== "string" || !/^\w[\w.-]*$/.test(url);
}

/** An MCP server that a client provides, as far as it is looked at. */
type ProvidedServer = { readonly type?: unknown; readonly name?: unknown };

function programError(params: object): FlintError | undefined {
  // Most methods have no such param, and accept anything under its name.
  const { mcpServers }: { readonly mcpServers?: unknown } = params;
  const servers: readonly ProvidedServer[] = Array.isArray(mcpServers) ? mcpServers.map(Object) : [];
  const index = servers.findIndex(({ type }) => type === "stdio");
  const program = servers[index];
  if (program === undefined) return undefined;
  const message =
    `The MCP server ${JSON.stringify(program.name)} is a program, and a client of a port may not have programs started. ` +
    "Give it by its http address, put it into the configuration of the server, or start the server with " +
    "--allow-remote-mcp (allow_remote_mcp = true).";
  return new FlintError("invalidParams", message, { field: `mcpServers[${index}]` });
}
