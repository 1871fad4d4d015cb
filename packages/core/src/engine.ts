import {
  FlintError,
  METHODS,
  type Method,
  type Params,
  type Result,
  type ThreadMethod,
} from "@flint/protocol";
import { ClientSession, type MethodCaller } from "./client-session.ts";
import { approvalHandlers } from "./handlers/approval.ts";
import { branchHandlers } from "./handlers/branch.ts";
import { commandHandlers } from "./handlers/command.ts";
import { configHandlers } from "./handlers/config.ts";
import { goalHandlers } from "./handlers/goal.ts";
import type { FreeHandler, FreeHandlers, ThreadHandler, ThreadHandlers } from "./handlers/handler.ts";
import { historyHandlers } from "./handlers/history.ts";
import { queueHandlers } from "./handlers/queue.ts";
import { reviewHandlers } from "./handlers/review.ts";
import { rulesHandlers } from "./handlers/rules.ts";
import { threadHandlers } from "./handlers/thread.ts";
import { turnHandlers } from "./handlers/turn.ts";
import { workspaceHandlers } from "./handlers/workspace.ts";
import { Reply } from "./reply.ts";
import { type EngineOptions, Services } from "./services.ts";
import { wellFormed } from "./text/characters.ts";
import type { Subscriber } from "./thread/subscription.ts";

/** Every method has exactly one handler here; the compiler says so. */
const HANDLERS: FreeHandlers & ThreadHandlers = {
  ...threadHandlers,
  ...historyHandlers,
  ...turnHandlers,
  ...goalHandlers,
  ...queueHandlers,
  ...reviewHandlers,
  ...branchHandlers,
  ...approvalHandlers,
  ...configHandlers,
  ...rulesHandlers,
  ...commandHandlers,
  ...workspaceHandlers,
};

/** The core of a server: threads, turns, approvals. Knows no wire and no agent by name. */
export class Engine implements MethodCaller {
  readonly #services: Services;
  #closing: Promise<void> | undefined;

  constructor(options: EngineOptions) {
    this.#services = new Services(options);
  }

  /** The text as anybody may see it: without keys and without the secrets that this engine knows. */
  redact(text: string): string {
    return this.#services.redactor.text(text);
  }

  /** Whether anything is under way in any thread: a turn, or what an agent has in the background. */
  get isWorking(): boolean {
    return this.#services.registry.isWorking;
  }

  /**
   * A new client. It hears of threads once it starts, resumes or attaches to them. What it does without naming a folder
   * it does in `cwd`, or where the server works.
   */
  connect(follower: Subscriber, cwd?: string): ClientSession {
    return new ClientSession(this, follower, this.#services.announcements, cwd);
  }

  /** Runs a method in the queue its row names. Half characters do not get in, and no failure tells a secret. */
  async call<Name extends Method>(
    client: ClientSession,
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    if (this.#closing !== undefined) {
      throw new FlintError("overloaded", "The server is stopping; connect again in a moment.");
    }
    const reply = new Reply(respond);
    const entered = wellFormed(params);
    try {
      if (METHODS[method].scope === "thread") {
        // The row says that this is a method of a thread; the generic name cannot carry that.
        await this.#callThread(client, method as ThreadMethod, entered as never, reply as never);
      } else {
        await this.#callFree(
          client,
          method as Exclude<Method, ThreadMethod>,
          entered as never,
          reply as never,
        );
      }
    } catch (error) {
      throw this.#services.redactor.error(error);
    }
    reply.rethrow();
  }

  /** Stops all turns, stores everything, ends all agents. */
  close(): Promise<void> {
    this.#closing ??= this.#services.close();
    return this.#closing;
  }

  async #callFree<Name extends Exclude<Method, ThreadMethod>>(
    client: ClientSession,
    method: Name,
    params: Params<Name>,
    reply: Reply<Result<Name>>,
  ): Promise<void> {
    // Indexing the table by a generic name gives the union of all handlers; this is the one for the name.
    const handler = HANDLERS[method] as unknown as FreeHandler<Name>;
    const context = { services: this.#services, client };
    const outcome = await handler(params, context, (result) => reply.give(result));
    if (outcome === "answered") return;
    reply.give(outcome.result);
    outcome.after?.();
  }

  async #callThread<Name extends ThreadMethod>(
    client: ClientSession,
    method: Name,
    params: Params<Name> & { threadId: string },
    reply: Reply<Result<Name>>,
  ): Promise<void> {
    const services = this.#services;
    // As above.
    const handler = HANDLERS[method] as unknown as ThreadHandler<Name>;
    await services.registry.runInQueue(params.threadId, async ({ thread, damage }) => {
      const outcome = await handler(params, { services, client, thread, damage });
      const { result, events = [], subscribe } = outcome;
      try {
        await thread.log.commit(events, () => {
          reply.give(result);
          if (subscribe !== undefined) client.subscribe(thread, subscribe, services.options.clock.now());
        });
        outcome.after?.();
      } finally {
        outcome.release?.();
      }
    });
  }
}
