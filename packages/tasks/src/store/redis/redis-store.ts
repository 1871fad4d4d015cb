import { mintId, reduceTask, type TaskEvent, type TaskEventBody, type TaskState } from "@flint/protocol";
import type { Redis } from "ioredis";
import { leased as decideLease } from "../../decide/run.ts";
import type {
  Lease,
  LostRun,
  NewTask,
  TaskChange,
  TaskStore,
  TaskWrite,
  WriteResult,
} from "../task-store.ts";
import { Feed } from "./feed.ts";
import { TaskKeys } from "./keys.ts";
import { eventsOf, readLog } from "./log.ts";
import { endConnection, openConnection } from "./redis-connection.ts";
import { Replica } from "./replica.ts";
import { Script } from "./script.ts";
import * as source from "./scripts.ts";
import { checkRedis } from "./start-checks.ts";

/** Dependencies of a store in Redis. */
export interface RedisStoreOptions {
  readonly url: string;
  /** Tasks of one namespace do not see those of another. */
  readonly namespace: string;
  /** The version of Flint, for those who find this format too new. */
  readonly version: string;
  /** Signs what is added, so that workers can tell who did. */
  readonly sign?: ((id: string, task: NewTask) => TaskSignature) | undefined;
}

/** The key of the one who added a task, and the proof. */
export interface TaskSignature {
  readonly key: string;
  readonly value: string;
}

const SCRIPTS = {
  add: new Script(source.ADD),
  commit: new Script(source.COMMIT),
  lease: new Script(source.LEASE),
  renew: new Script(source.RENEW),
  sweep: new Script(source.SWEEP),
  remove: new Script(source.REMOVE),
  restore: new Script(source.RESTORE),
  lead: new Script(source.LEAD),
};

/**
 * Tasks in Redis, for many machines. Each write is one script that checks version, fence and lease, by the clock of
 * Redis. A command whose answer was lost may be sent again: every write carries an id by which that is noticed.
 */
export class RedisStore implements TaskStore {
  readonly keys: TaskKeys;
  readonly #redis: Redis;
  readonly #replica = new Replica();
  readonly #feed: Feed;
  readonly #sign: RedisStoreOptions["sign"];
  /** The tasks that are on their way to Redis. */
  readonly #adding = new Map<string, Promise<TaskState>>();
  /** The turn that the next call waits for, so that numbers are in the order of the calls. */
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(redis: Redis, listening: Redis, keys: TaskKeys, sign: RedisStoreOptions["sign"]) {
    this.#redis = redis;
    this.#sign = sign;
    this.keys = keys;
    this.#feed = new Feed({ redis, listening, keys, replica: this.#replica });
  }

  /** Opens a namespace. Rejects with a RedisProblem if tasks cannot be kept there. */
  static async open({ url, namespace, version, sign }: RedisStoreOptions): Promise<RedisStore> {
    const keys = new TaskKeys(namespace);
    await checkRedis(url, keys, version);
    const [redis, listening] = await Promise.all([openConnection(url), openConnection(url)]);
    return new RedisStore(redis, listening, keys, sign);
  }

  async add(task: NewTask): Promise<TaskState> {
    const id = task.id ?? mintId();
    const earlier = task.spec.after.flatMap((before) => this.#adding.get(before) ?? []);
    // A scheduler that saw a task without those it comes after would take them for removed.
    const turn = earlier.length === 0 ? this.#turn : Promise.all([this.#turn, ...earlier]);
    const adding = turn.then(() => this.#add(id, task));
    if (earlier.length > 0) this.#turn = turn.catch(() => undefined);
    this.#adding.set(id, adding);
    return adding.finally(() => this.#adding.delete(id));
  }

  async #add(id: string, task: NewTask): Promise<TaskState> {
    const { spec, by, waiting, key } = task;
    const signature = this.#sign?.(id, task);
    const rest = {
      spec,
      by,
      waiting,
      ...(key === undefined ? {} : { key }),
      ...(signature && { signature }),
    };
    const { keys } = this;
    const [added] = asStrings(
      await SCRIPTS.add.run(
        this.#redis,
        [keys.task(id), keys.log(id), keys.feed, keys.order, keys.numbers, keys.clientKeys],
        [id, key ?? "", waiting ? "waiting" : "ready", mintId(), JSON.stringify(rest).slice(1)],
      ),
    );
    const state = await this.read(added ?? id);
    if (state === undefined) throw new Error(`Task ${id} is gone`);
    return state;
  }

  async commit({ task, expect, lease, events }: TaskWrite): Promise<WriteResult> {
    const before = await this.#stateAt(task, expect);
    const after = before === undefined ? undefined : fold(before, events, 0);
    const { keys } = this;
    const [status = "unknown", at] = asStrings(
      await SCRIPTS.commit.run(
        this.#redis,
        [keys.task(task), keys.log(task), keys.feed, keys.leases],
        [
          ...[task, expect, lease?.id ?? "", lease?.fence ?? 0, mintId()],
          ...[after?.phase ?? "", after?.run?.leaseId ?? "", after?.fence ?? 0, mintId()],
          // Of a version that was never there nothing is written.
          ...(before === undefined ? [] : events.map((event) => JSON.stringify(event))),
        ],
      ),
    );
    if (status === "fenced") return { status };
    if (status === "ok" && before !== undefined && after !== undefined) {
      this.#replica.apply(task, stored(before, events, Number(at)));
      return { status, state: this.#replica.get(task) ?? after };
    }
    const state = status === "unknown" ? undefined : await this.read(task);
    return state === undefined ? { status: "unknown" } : { status: "stale", state };
  }

  async lease(task: string, worker: string, milliseconds: number): Promise<Lease | undefined> {
    const [id, runId] = [mintId(), mintId()];
    const { keys } = this;
    const answer = await SCRIPTS.lease.run(
      this.#redis,
      [keys.task(task), keys.log(task), keys.feed, keys.leases],
      [task, worker, milliseconds, id, runId, mintId()],
    );
    const [fence, version = 0, at = 0] = asStrings(answer).map(Number);
    if (fence === undefined) return undefined;
    const [leased] = decideLease({ runId, worker, fence, leaseId: id });
    if (leased === undefined || !this.#replica.apply(task, [{ ...leased, version, at }]))
      await this.read(task);
    return { task, runId, worker, fence, id };
  }

  async renew({ task, id, fence }: Lease, milliseconds: number): Promise<boolean> {
    const { keys } = this;
    const values = [task, id, fence, milliseconds];
    return (await SCRIPTS.renew.run(this.#redis, [keys.task(task), keys.leases], values)) === 1;
  }

  async sweep(): Promise<readonly LostRun[]> {
    const lost = asStrings(await SCRIPTS.sweep.run(this.#redis, [this.keys.leases], [this.keys.taskPrefix]));
    return lost.flatMap((task, index) => (index % 2 === 0 ? [{ task, fence: Number(lost[index + 1]) }] : []));
  }

  async read(task: string): Promise<TaskState | undefined> {
    return this.#feed.refresh(task);
  }

  known(task: string): TaskState | undefined {
    return this.#replica.get(task);
  }

  /** Returns the event by which a task was added, which never changes; undefined if there is no such task. */
  async added(task: string): Promise<TaskEvent | undefined> {
    return eventsOf(await this.#redis.xrange(this.keys.log(task), "1-0", "1-0"))[0];
  }

  events(task: string, after = 0): Promise<readonly TaskEvent[]> {
    return readLog(this.#redis, this.keys, task, after);
  }

  async list(): Promise<readonly TaskState[]> {
    await this.#feed.catchUp();
    return this.#replica.list();
  }

  subscribe(listener: (change: TaskChange) => void): () => void {
    this.#feed.start();
    return this.#replica.subscribe(listener);
  }

  async remove(task: string): Promise<boolean> {
    const { keys } = this;
    const removed = await SCRIPTS.remove.run(
      this.#redis,
      [keys.task(task), keys.log(task), keys.feed, keys.leases, keys.order, keys.clientKeys, keys.removed],
      [task, mintId()],
    );
    this.#replica.drop(task);
    return removed === 1;
  }

  /** Puts back what Redis has lost of a task, unless somebody has removed it. */
  async restore(state: TaskState, events: readonly TaskEvent[]): Promise<"restored" | "present" | "removed"> {
    const { keys } = this;
    const { id, number, key = "", phase, run, fence } = state;
    const restored = await SCRIPTS.restore.run(
      this.#redis,
      [
        ...[keys.task(id), keys.log(id), keys.feed, keys.leases, keys.order, keys.numbers],
        ...[keys.clientKeys, keys.removed],
      ],
      [
        ...[id, number, key, phase, run?.leaseId ?? "", fence, mintId()],
        ...events.flatMap(({ at, version: _version, ...body }) => [at, JSON.stringify(body)]),
      ],
    );
    return restored === 1 ? "restored" : restored === -1 ? "removed" : "present";
  }

  /** Takes or keeps the right to schedule; false while somebody else has it. */
  async lead(who: string, milliseconds: number): Promise<boolean> {
    return (await SCRIPTS.lead.run(this.#redis, [this.keys.lead], [who, milliseconds])) === 1;
  }

  /** The connection, for what else is kept beside the tasks. */
  get connection(): Redis {
    return this.#redis;
  }

  /** Ends the connections at once; what waits for an answer fails. */
  disconnect(): void {
    this.#feed.disconnect();
    endConnection(this.#redis);
  }

  async close(): Promise<void> {
    this.#replica.clear();
    // Before the feed is waited for, which may wait for an answer of a Redis that is away.
    this.disconnect();
    await this.#feed.stop();
  }

  /** The state that a decision rests on; undefined if it was never there. */
  async #stateAt(task: string, version: number): Promise<TaskState | undefined> {
    const known = this.#replica.get(task);
    const state = known?.version === version ? known : await this.read(task);
    return state?.version === version ? state : undefined;
  }
}

function fold(state: TaskState, events: readonly TaskEventBody[], at: number): TaskState {
  return stored(state, events, at).reduce((last, event) => reduceTask(state.id, last, event), state);
}

function stored({ version }: TaskState, events: readonly TaskEventBody[], at: number): TaskEvent[] {
  return events.map((event, index) => ({ ...event, version: version + 1 + index, at }));
}

function asStrings(answer: unknown): string[] {
  return Array.isArray(answer) ? answer.map(String) : [];
}
