import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { isRemoteAddress } from "@flint/host/worktrees";
import { type MergeMode, MergeMode as MergeModes } from "@flint/protocol";
import { stateFolder } from "@flint/server/environment";
import {
  composeEngine,
  type FleetOptions,
  type RunningWorker,
  type WorkerSettings,
} from "@flint/server/serve";
import {
  choice,
  noArguments,
  numberOption,
  type ParsedArguments,
  UsageError,
} from "../../command-line/command.ts";
import { printError } from "../../command-line/output.ts";
import { serverOptions } from "../../command-line/server-options.ts";
import { labelOf } from "../tasks/given-values.ts";
import type { WORKER_FLAGS } from "./flags.ts";

type Values = ParsedArguments<typeof WORKER_FLAGS>["values"];
type Described = Omit<WorkerSettings, "onReady" | "onFailed">;

const DRAIN_SECONDS = 60;

/** `flint worker`: runs tasks until a signal ends it. */
export async function runWorker({
  values,
  positionals,
}: ParsedArguments<typeof WORKER_FLAGS>): Promise<number> {
  noArguments("worker", positionals);
  const { fleet, ...options } = await serverOptions(values);
  const { signerOf } = await import("@flint/server/fleet");
  const own = (await signerOf(stateFolder())).publicKey;
  const given = settingsOf(values, fleet, options.model);
  const settings = { ...given, trusted: [...given.trusted, own] };
  const drainMs = (seconds(values, "drain") ?? DRAIN_SECONDS) * 1000;
  const userRoot = stateFolder();
  // Beside the state folder: worktrees lie beside this one, and commands may not write in the state folder.
  const root = `${userRoot}-workers/${encodeURIComponent(settings.name)}`;
  let ready: (worker: RunningWorker) => void = () => {};
  let failed: (thrown: unknown) => void = () => {};
  const started = new Promise<RunningWorker>((resolve, reject) => {
    ready = resolve;
    failed = reject;
  });
  const worker = { ...settings, onReady: ready, onFailed: failed };
  const engine = composeEngine({ ...options, root, userRoot, tasks: { ...options.taskSettings, worker } });
  // Expected: a Redis that cannot be used, or a worker of the same name.
  try {
    const running = await started;
    const pools = settings.pools?.join(", ") ?? "default";
    printError(`worker ${settings.name} takes tasks of ${pools}, ${settings.concurrency} at once`, 0);
    await untilSignalled(running, drainMs);
    return 0;
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    return printError(thrown.message, 1);
  } finally {
    await engine.close();
  }
}

/** Waits for a signal or a request to drain, then for what runs; a further signal does not wait. */
async function untilSignalled(worker: RunningWorker, drainMs: number): Promise<void> {
  const signalled = () =>
    new Promise<void>((resolve) => {
      process.once("SIGTERM", resolve);
      process.once("SIGINT", resolve);
    });
  await Promise.race([signalled(), worker.drainRequested]);
  printError("draining; waiting for running tasks", 0);
  await Promise.race([worker.drain(drainMs), signalled()]);
}

/** Returns the settings of a worker that the options describe. */
export function settingsOf(values: Values, fleet: FleetOptions | undefined, model?: string): Described {
  const redis = values.redis ?? fleet?.redis;
  if (redis === undefined)
    throw new UsageError("worker needs the Redis of the fleet: give --redis URL, or set tasks.redis.");
  const merge = (values.merge ?? "none,branch").split(",").map((mode) => mergeMode(mode.trim()));
  const agents = values.agents?.split(",").map((name) => name.trim());
  return {
    redis,
    namespace: values.namespace ?? fleet?.namespace ?? "default",
    events: fleet?.events,
    name: values.name ?? hostname(),
    pools: values.pool,
    labels: (values.label ?? []).map(labelOf),
    concurrency: concurrencyOf(values.concurrency),
    trusted: values.trust ?? [],
    ceiling: {
      folders: (values.folder ?? ["."]).map((folder) => resolve(folder)),
      projects: (values.project ?? []).map(projectOf),
      remotes: (values.remote ?? []).map(remoteOf),
      agents,
      defaultModel: defaultModelOf(agents, model),
      merge,
      network: values["allow-network"] === true,
      allowTools: values["allow-tools"] === true,
      seconds: seconds(values, "max-time"),
      costUsd: seconds(values, "max-cost"),
    },
  };
}

/** The model of tasks that name none, if only some agents may work: the configured one, or that of the first agent. */
function defaultModelOf(agents: readonly string[] | undefined, model: string | undefined) {
  if (agents === undefined) return undefined;
  return model !== undefined && agents.includes(model.split("/")[0] ?? "") ? model : agents[0];
}

function mergeMode(text: string): MergeMode {
  return choice("merge", text, MergeModes.options);
}

function projectOf(text: string): { url: string; folder: string } {
  const at = text.lastIndexOf("=");
  const [url, folder] = [text.slice(0, Math.max(0, at)), text.slice(at + 1)];
  if (url === "" || folder === "") throw new UsageError(`--project ${text}: write it as URL=DIR.`);
  if (!existsSync(folder)) throw new UsageError(`--project ${text}: ${folder} does not exist.`);
  return { url, folder: resolve(folder) };
}

function remoteOf(url: string): string {
  if (isRemoteAddress(url)) return url;
  throw new UsageError(`--remote ${url}: write it as an address such as https://git.example/team.`);
}

function concurrencyOf(text = "1"): number {
  const isValid = (value: number) => Number.isInteger(value) && value >= 1 && value <= 256;
  return numberOption("concurrency", text, "a whole number from 1 to 256", isValid);
}

function seconds(values: Values, name: "drain" | "max-time" | "max-cost"): number | undefined {
  const text = values[name];
  return text === undefined
    ? undefined
    : numberOption(name, text, "a number, 0 or more", (value) => value >= 0);
}
