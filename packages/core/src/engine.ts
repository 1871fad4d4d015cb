import { METHODS, type Method, mintId, type Params, type Result, type ThreadMethod } from "@flint/protocol";
import { ClientSession, type MethodCaller } from "./client-session.ts";
import { approvalHandlers } from "./handlers/approval.ts";
import { branchHandlers } from "./handlers/branch.ts";
import { commandHandlers } from "./handlers/command.ts";
import { configHandlers } from "./handlers/config.ts";
import type { FreeHandler, FreeHandlers, ThreadHandler, ThreadHandlers } from "./handlers/handler.ts";
import { historyHandlers } from "./handlers/history.ts";
import { threadHandlers } from "./handlers/thread.ts";
import { turnHandlers } from "./handlers/turn.ts";
import { type EngineOptions, Services } from "./services.ts";
import type { Follower } from "./subscription.ts";

/** Every method has exactly one handler here; the compiler says so. */
const HANDLERS: FreeHandlers & ThreadHandlers = {
  ...threadHandlers,
  ...historyHandlers,
  ...turnHandlers,
  ...branchHandlers,
  ...approvalHandlers,
  ...configHandlers,
  ...commandHandlers,
};

/** The core of a server: threads, turns, approvals. Knows no wire and no agent by name. */
export class Engine implements MethodCaller {
  readonly #services: Services;

  constructor(options: EngineOptions) {
    this.#services = new Services(options);
  }

  /** A new client. It hears of threads once it starts, resumes or attaches to them. */
  connect(follower: Follower): ClientSession {
    return new ClientSession(this, mintId(), follower);
  }

  /** Runs a method in the queue its row names. */
  async call<Name extends Method>(
    client: ClientSession,
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    if (METHODS[method].scope === "thread") {
      // The row says that this is a method of a thread; the generic name cannot carry that.
      await this.#callThread(client, method as ThreadMethod, params as never, respond as never);
    } else {
      await this.#callFree(client, method as Exclude<Method, ThreadMethod>, params as never, respond as never);
    }
  }

  /** Stops all turns, stores everything, ends all agents. */
  async close(): Promise<void> {
    await this.#services.registry.close();
    await this.#services.options.store.close();
    await this.#services.options.ephemeralStore.close();
  }

  async #callFree<Name extends Exclude<Method, ThreadMethod>>(
    client: ClientSession,
    method: Name,
    params: Params<Name>,
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    // Indexing the table by a generic name gives the union of all handlers; this is the one for the name.
    const handler = HANDLERS[method] as unknown as FreeHandler<Name>;
    const outcome = await handler(params, { services: this.#services, client }, respond);
    if (outcome === "answered") return;
    respond(outcome.result);
    outcome.after?.();
  }

  async #callThread<Name extends ThreadMethod>(
    client: ClientSession,
    method: Name,
    params: Params<Name> & { threadId: string },
    respond: (result: Result<Name>) => void,
  ): Promise<void> {
    const services = this.#services;
    const { thread, damage } = await services.registry.load(params.threadId);
    // As above.
    const handler = HANDLERS[method] as unknown as ThreadHandler<Name>;
    await thread.queue.run(async () => {
      const { result, events = [], follow, after } = await handler(params, { services, client, thread, damage });
      await thread.log.commit(events, () => {
        respond(result);
        if (follow !== undefined) client.follow(thread, follow, services.options.clock.now());
      });
      after?.();
    });
  }
}
