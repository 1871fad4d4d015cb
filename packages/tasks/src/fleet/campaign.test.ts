import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isEnded } from "@flint/protocol";
import { needs, RedisServer, temporaryFolder } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { RedisStore } from "../store/redis/redis-store.ts";
import { Random } from "../testing/random.ts";
import { testSpec } from "../testing/spec.ts";
import { TaskSigner } from "./task-signature.ts";

const WORKER = fileURLToPath(new URL("../testing/campaign-worker.ts", import.meta.url));
const TASKS = 60;
const FAULTS = 8;

needs("redis")(
  "workers and Redis that are killed or stopped at random lose no task and end none twice [P37]",
  async () => {
    const random = new Random(20_261_118);
    const redis = await RedisServer.start({ args: ["--appendfsync", "always"] });
    const ledger = (await temporaryFolder()).join("ledger");
    writeFileSync(ledger, "");
    const signer = TaskSigner.fromPem(TaskSigner.generate());
    const namespace = "campaign";
    const store = await RedisStore.open({
      ...{ url: redis.url, namespace, version: "0" },
      sign: (id, { spec, by }) => signer.sign({ namespace, id, by, spec }),
    });
    onTestFinished(() => store.close());
    const started: ChildProcess[] = [];
    const start = async (): Promise<ChildProcess> => {
      const args = [redis.url, `w${started.length}`, signer.publicKey, ledger, "1500", "150"];
      const child = spawn(process.execPath, ["--conditions=@flint/source", "--import=tsx", WORKER, ...args], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      started.push(child);
      await once(child.stdout ?? child, "data");
      return child;
    };
    onTestFinished(() => {
      for (const child of started) child.kill("SIGKILL");
    });
    const workers = await Promise.all([start(), start(), start()]);
    const ids: string[] = [];
    for (let index = 0; index < TASKS; index += 1) {
      const spec = testSpec({ cwd: "/", merge: "none", approve: "reviewer" });
      ids.push((await store.add({ spec, by: "ann", waiting: false })).id);
    }
    for (let fault = 0; fault < FAULTS; fault += 1) {
      const at = random.below(workers.length);
      const victim = workers[at];
      const kind = random.below(4);
      if (kind === 0) {
        await redis.kill();
        await redis.start();
      } else if (kind === 1) {
        victim?.kill("SIGSTOP");
        await store.connection.blpop("nothing", 2.5);
        victim?.kill("SIGCONT");
      } else {
        victim?.kill("SIGKILL");
        workers[at] = await start();
      }
      await store.connection.blpop("nothing", 0.2);
    }
    while (!(await store.list()).every((state) => isEnded(state) || state.phase === "asking"))
      await store.connection.blpop("nothing", 0.2);
    const states = await store.list();
    expect(states.map(({ id }) => id).sort()).toEqual([...ids].sort());
    const lines = readFileSync(ledger, "utf8").trim().split("\n");
    for (const { id, phase } of states) {
      const events = await store.events(id);
      const count = (type: string) => events.filter((event) => event.type === type).length;
      expect(count("task/ended")).toBe(phase === "done" ? 1 : 0);
      // Every run that began has one end in the log: it is told if it was lost or given back.
      expect(count("run/leased")).toBe(count("task/ended") + count("run/lost") + count("run/released"));
      // The effects of a run that count are those of the fence under which the task ended.
      const ends = lines.filter((line) => line.startsWith(`end ${id} `));
      expect(ends.length).toBeLessThanOrEqual(1);
    }
  },
  120_000,
);
