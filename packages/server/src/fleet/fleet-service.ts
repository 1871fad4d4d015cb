import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FlintError, mintId, type Params, type Result, type TaskMethod } from "@flint/protocol";
import type { TaskService, VerifyTask } from "@flint/tasks";
import type { RedisStore, TaskSigner, WorkerRegistry } from "@flint/tasks/fleet";
import type { TaskParts } from "../task-parts.ts";
import { VERSION } from "../version.ts";
import { AFFINITY_MS, BACKUP_CHECK_MS, type FleetOptions, LEASE_MS } from "./fleet-options.ts";

/** Rejects with what is wrong unless the tasks of a fleet can be kept at this address. */
export async function checkFleet({ redis: url, namespace }: FleetOptions): Promise<void> {
  const fleet = await import("@flint/tasks/fleet");
  const store = await fleet.RedisStore.open({ url, namespace, version: VERSION });
  await store.close();
}

/** Answers the task methods of a server. */
export interface TaskCalls {
  readonly isWorking: boolean;
  start(): void;
  call<Name extends TaskMethod>(method: Name, params: Params<Name>, by: string): Promise<Result<Name>>;
  close(): Promise<void>;
}

/** Opens the tasks of a fleet for a server that adds and answers them, and leaves it to workers to run them. */
export async function openFleet(
  { root, now, onProblem }: Pick<TaskParts, "root" | "now" | "onProblem">,
  { redis: url, namespace, trusted = [], leaseMs = LEASE_MS, affinityMs = AFFINITY_MS }: FleetOptions,
  serviceOf: (store: RedisStore, verify: VerifyTask) => Promise<TaskService>,
): Promise<TaskCalls> {
  const fleet = await import("@flint/tasks/fleet");
  const signer = await signerOf(root);
  const sign = (id: string, { spec, by }: Parameters<typeof store.add>[0]) =>
    signer.sign({ namespace, id, by, spec });
  const store = await fleet.RedisStore.open({ url, namespace, version: VERSION, sign });
  const queue = await fleet.BullQueue.open({ url, namespace, lockMs: leaseMs, onProblem });
  const context = () => ({ now: now(), random: Math.random(), id: () => mintId() });
  const workers = new fleet.WorkerRegistry(store);
  const dispatcher = new fleet.Dispatcher({
    ...{ store, queue, workers, leaseMs, affinityMs, context, onProblem },
  });
  const file = await fleet.AcceptedFile.open(join(root, "tasks", "accepted.jsonl"));
  const backup = new fleet.TaskBackup({
    ...{ store, stored: file.stored, checkMs: BACKUP_CHECK_MS, onProblem },
    persist: (tasks) => file.append(tasks),
    forget: (task, kept) => file.forget(task, kept),
  });
  const keys = new Set([signer.publicKey, ...trusted]);
  const service = await serviceOf(store, fleet.taskVerifier(store, { namespace, trusted: keys }));
  return {
    isWorking: false,
    start() {
      service.start();
      dispatcher.start();
      backup.start();
    },
    async call(method, params, by) {
      const answered = await callWorkers(workers, method, params);
      if (answered !== undefined) return answered;
      const result = await service.call(method, params, by);
      // Not answered before this machine has it too: Redis may lose what it has acknowledged.
      if (method === "task/add") {
        const added = result as Result<"task/add">; // The result of the method that was just compared.
        await backup.accept(added.data.map(({ id }) => id));
      }
      // One that has ended is not kept any more, so one that goes on after that is accepted again.
      if (method === "task/retry" || method === "task/merge") {
        const again = result as Result<"task/retry">; // As above; both have the same result.
        await backup.accept([again.task.id]);
      }
      return result;
    },
    async close() {
      const close = async () => {
        await backup.stop();
        await dispatcher.stop();
        await queue.close();
        await service.close();
      };
      await fleet.closeWhileAnswering({ store, queue }, close).finally(() => file.close());
    },
  };
}

/** Answers the methods about workers; undefined for others. */
async function callWorkers<Name extends TaskMethod>(
  workers: Pick<WorkerRegistry, "list" | "drain">,
  method: Name,
  params: Params<Name>,
): Promise<Result<Name> | undefined> {
  if (method === "worker/list") {
    const result: Result<"worker/list"> = { data: await workers.list() };
    return result as Result<Name>; // The result of the method that was just compared.
  }
  if (method !== "worker/drain") return undefined;
  const { name } = params as Params<"worker/drain">; // The parameters of that method.
  const worker = await workers.drain(name);
  if (worker === undefined) throw new FlintError("invalidParams", `There is no worker named ${name}.`);
  return { worker } as Result<Name>; // The result of that method.
}

/** The key with which the server of a state folder signs the tasks that it adds; made when it is needed first. */
export async function signerOf(root: string): Promise<TaskSigner> {
  const { TaskSigner: Signer } = await import("@flint/tasks/fleet");
  const path = join(root, "tasks", "signing-key.pem");
  // Expected: there is none yet.
  const present = await readFile(path, "utf8").catch(() => undefined);
  return Signer.fromPem(present ?? (await madeOnce(path, Signer.generate())));
}

/** Writes a file that is not there; of several that do at once, all get what the first has written. */
async function madeOnce(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const own = `${path}.${mintId()}.new`;
  await writeFile(own, text, { flag: "wx", mode: 0o600 });
  // Expected: another one was first.
  await link(own, path).catch(() => undefined);
  await rm(own, { force: true });
  return readFile(path, "utf8");
}
