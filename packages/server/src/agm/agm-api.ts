import { mintId, type Result, type TaskRow } from "@flint/protocol";
import { type FlintClient, FlintRequestError } from "@flint/sdk";
import { messageEvent } from "@flint/tasks";
import type { Channels } from "./channel-file.ts";
import type { AgmEvents } from "./events.ts";
import { AGM_PARAMS, AgmError, type AgmMethod, type AgmParams, isAgmMethod } from "./params.ts";
import { type MessageRow, type StoredSession, timestamp } from "./rows.ts";
import { logViews, sessionIdOf, sessionView, statusOf, steerViews, taskView } from "./views.ts";

/** Dependencies of the methods. */
export interface AgmApiOptions {
  /** A client of the server that has the tasks. */
  readonly client: FlintClient;
  readonly channels: Channels;
  /** The sink for the event about a message, and the source of those of tasks. */
  readonly events: AgmEvents;
  /** The folder of sessions and tasks that name none. */
  readonly cwd: string;
  readonly now: () => number;
}

type Handlers = { readonly [Name in AgmMethod]: (params: AgmParams<Name>) => Promise<object> };

interface Page {
  readonly limit?: number | null | undefined;
  readonly offset?: number | null | undefined;
}

const PAGE = 100;
const SENDER = "operator:api";

/** The methods of agm: sessions, which are channels of messages, and the tasks that they are about. */
export class AgmApi {
  readonly #options: AgmApiOptions;

  constructor(options: AgmApiOptions) {
    this.#options = options;
  }

  /** Carries out a method. Rejects with an AgmError for what the request is to blame for. */
  async call(method: unknown, params: unknown): Promise<object> {
    if (typeof method !== "string" || !isAgmMethod(method)) {
      const shown = typeof method === "string" ? JSON.stringify(method.slice(0, 100)) : "no method";
      const known = Object.keys(AGM_PARAMS).join(", ");
      throw new AgmError("INVALID_METHOD", `The request names ${shown}. The methods are: ${known}.`);
    }
    const parsed = AGM_PARAMS[method].safeParse(params ?? {});
    if (!parsed.success) {
      const problems = parsed.error.issues.map(({ path, message }) => {
        const field = path.map(String).join(".");
        return field === "" ? message : `${field}: ${message}`;
      });
      throw new AgmError("INVALID_PARAMS", `Wrong params for ${method}: ${problems.slice(0, 5).join("; ")}`);
    }
    // The row of this very name has checked the params; the union of all rows cannot follow that.
    const handler = this.#handlers[method] as (params: unknown) => Promise<object>;
    return handler(parsed.data);
  }

  readonly #handlers: Handlers = {
    "session.create": async ({ title, project }) =>
      sessionView(
        await this.#createSession(mintId(), title, project ?? this.#options.cwd, "api"),
        [],
        undefined,
      ),
    "session.list": async (page) => {
      const tasks = await this.#tasks();
      const rows = pageOf((await this.#options.channels.sessions()).toReversed(), page);
      const sessions = rows.items.map((session) => this.#sessionView(session, tasks));
      return { ...rows.page, sessions: await Promise.all(sessions) };
    },
    "session.show": async ({ id }) => {
      const session = await this.#findSession(id);
      const tasks = await this.#tasks();
      const own = tasks.filter((task) => sessionIdOf(task) === id);
      return { ...(await this.#sessionView(session, tasks)), tasks: own.map(taskView) };
    },
    "session.post": async ({ id, kind, ...rest }) =>
      this.#post(await this.#findSession(id), { ...rest, kind: kind ?? "context" }),
    "session.messages": async ({ id, kind, sender, recipient, ...page }) => {
      await this.#findSession(id);
      const found = (await this.#options.channels.messages(id))
        .filter((message) => kind == null || message.kind === kind)
        .filter((message) => sender == null || message.sender === sender)
        .filter((message) => recipient == null || message.recipient === recipient);
      const rows = pageOf(found, page);
      return { session_id: id, ...rows.page, messages: rows.items };
    },
    "task.create": async (params) => taskView(await this.#createTask(params)),
    "task.list": async ({ session_id, status, ...page }) => {
      const found = (await this.#tasks())
        .filter((task) => session_id == null || sessionIdOf(task) === session_id)
        .filter((task) => status == null || statusOf(task) === status);
      const rows = pageOf(found.toReversed(), page);
      return { ...rows.page, tasks: rows.items.map(taskView) };
    },
    "task.show": async ({ id }) => {
      const { task, spec } = await this.#readTask(id);
      return { ...taskView(task), prompt: spec.prompt, depends_on: spec.after };
    },
    "task.cancel": async ({ id, reason }) => {
      const { task } = await this.#readTask(id);
      const why = reason == null ? {} : { reason };
      return taskView((await this.#options.client.call("task/cancel", { taskId: task.id, ...why })).task);
    },
    "task.logs": async ({ id, ...page }) => {
      const { spec, events } = await this.#readTask(id);
      const rows = pageOf(logViews(id, spec, events), page);
      return { task_id: id, ...rows.page, logs: rows.items };
    },
    "task.steer": async (params) => this.#steer(params),
    "task.steers": async ({ id, ...page }) => {
      const { task, events } = await this.#readTask(id);
      const messages = await this.#options.channels.messages(sessionIdOf(task));
      const rows = pageOf(steerViews(task, events, messages), page);
      return { task_id: id, ...rows.page, items: rows.items };
    },
    "events.follow": async () => {
      await this.#options.events.follow();
      return {};
    },
  };

  /** Keeps the steer in the log of the task, whatever becomes of it, and tells the session. */
  async #steer({ id, content, live, ...between }: AgmParams<"task.steer">): Promise<object> {
    const { task } = await this.#readTask(id);
    const session = await this.#sessionOf(task);
    const requested = live ?? true;
    const steer = { taskId: id, content, live: requested, keep: true };
    const { steerId, live: applied, error, turn } = await this.#options.client.call("task/steer", steer);
    const message = await this.#post(session, { ...between, content, kind: "steer", steer_id: steerId });
    return {
      ...{ id: steerId, task_id: id, session_id: session.id, message_id: message.id },
      ...{ live_requested: requested, live_applied: applied },
      turn_id: applied ? (turn?.turnId ?? null) : null,
      live_error: error ?? null,
    };
  }

  async #createTask(params: AgmParams<"task.create">): Promise<TaskRow> {
    const { prompt, session_id, project, executor, reviewer, checks, client_id, depends_on } = params;
    const session = session_id == null ? undefined : await this.#findSession(session_id);
    const { title, rounds, merge, approve } = params;
    const task = {
      ...{ prompt, cwd: project ?? session?.project_id ?? this.#options.cwd },
      channel: session?.id ?? mintId(),
      ...(title == null ? {} : { title }),
      ...(executor == null ? {} : { executors: [{ model: executor }] }),
      ...(reviewer == null ? {} : { reviewers: [{ model: reviewer }] }),
      ...(checks == null ? {} : { checks: checks.map((command) => ({ command })) }),
      ...(rounds == null ? {} : { rounds }),
      ...(merge == null ? {} : { merge }),
      ...(approve == null ? {} : { approvedBy: approve === "person" ? ("user" as const) : approve }),
      ...(depends_on == null ? {} : { after: depends_on }),
      ...(client_id == null ? {} : { clientId: client_id }),
    };
    const { data } = await this.#options.client.call("task/add", { tasks: [task] });
    const [added] = data;
    if (added === undefined) throw new AgmError("INTERNAL", "The task was not added.");
    await this.#sessionOf(added);
    return added;
  }

  /** The session of a task; made when it is used first, for a task that was added without one. */
  async #sessionOf(task: TaskRow): Promise<StoredSession> {
    const id = sessionIdOf(task);
    return (
      (await this.#options.channels.session(id)) ?? this.#createSession(id, task.title, task.cwd, "task")
    );
  }

  async #createSession(
    id: string,
    title: string,
    project: string,
    trigger: StoredSession["trigger"],
  ): Promise<StoredSession> {
    const session = { id, title, project_id: project, trigger, created_at: this.#timestamp() };
    await this.#options.channels.append({ session });
    return session;
  }

  async #post(
    session: StoredSession,
    given: Pick<MessageRow, "kind" | "content" | "steer_id"> & {
      readonly [Name in "sender" | "recipient" | "metadata"]?: MessageRow[Name] | null | undefined;
    },
  ): Promise<MessageRow> {
    const { kind, content, steer_id, sender, recipient = null, metadata = null } = given;
    const message: MessageRow = {
      ...{
        id: mintId(),
        session_id: session.id,
        kind,
        sender: sender ?? SENDER,
        recipient,
        content,
        metadata,
      },
      ...(steer_id === undefined ? {} : { steer_id }),
      created_at: this.#timestamp(),
    };
    const { channels, events, now } = this.#options;
    await channels.append({ message });
    events.publish(messageEvent({ ...message, message_id: message.id }, session.project_id, now()));
    return message;
  }

  async #findSession(id: string): Promise<StoredSession> {
    const session = await this.#options.channels.session(id);
    if (session === undefined) throw new AgmError("NOT_FOUND", `There is no session ${id}.`);
    return session;
  }

  async #sessionView(session: StoredSession, tasks: readonly TaskRow[]): Promise<object> {
    const own = tasks.filter((task) => sessionIdOf(task) === session.id);
    return sessionView(session, own, (await this.#options.channels.messages(session.id)).at(-1));
  }

  async #tasks(): Promise<readonly TaskRow[]> {
    return (await this.#options.client.call("task/list", {})).data;
  }

  async #readTask(taskId: string): Promise<Result<"task/read">> {
    return this.#options.client.call("task/read", { taskId }).catch((thrown: unknown) => {
      if (thrown instanceof FlintRequestError && thrown.kind === "invalidParams")
        throw new AgmError("NOT_FOUND", thrown.message);
      throw thrown;
    });
  }

  #timestamp(): string {
    return timestamp(this.#options.now());
  }
}

function pageOf<Item>(all: readonly Item[], { limit, offset }: Page) {
  const [most, from] = [limit ?? PAGE, offset ?? 0];
  const items = all.slice(from, from + most);
  return { page: { limit: most, offset: from, count: items.length }, items };
}
