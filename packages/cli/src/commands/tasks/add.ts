import { GitMode, MergeMode, type ParamsInput, ResumeMode, ReviewMode } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import {
  choice,
  numberOption,
  oneArgument,
  type ParsedArguments,
  UsageError,
} from "../../command-line/command.ts";
import { enforcementOf } from "../../command-line/limit-flags.ts";
import { columns, print, printError, printJson } from "../../command-line/output.ts";
import { networkOf, unknownAgentMessage } from "../../command-line/server-options.ts";
import type { ADD_FLAGS } from "./add-flags.ts";
import { labelOf, startTimeOf } from "./given-values.ts";
import { openTaskFile } from "./task-file.ts";
import { findTask, withTaskServer } from "./task-server.ts";

type Values = ParsedArguments<typeof ADD_FLAGS>["values"];
type Input = ParamsInput<"task/add">["tasks"][number];

const ALLOWED = ["sandbox", "tools"] as const;
const APPROVERS = ["user", "reviewer"] as const;

/** `flint tasks add`: adds tasks and prints their numbers. */
export async function addTasks({ values, positionals }: ParsedArguments<typeof ADD_FLAGS>): Promise<number> {
  const { file } = values;
  if (file !== undefined && positionals.length > 0) throw new UsageError("Use a prompt or --file, not both.");
  // Read before a server is started for it.
  const fromFile = file === undefined ? undefined : openTaskFile(file);
  const { data: added, warnings = [] } = await withTaskServer(async (client) => {
    const tasks = fromFile ?? [
      await fromFlags(client, values, oneArgument("tasks add", positionals, "a prompt or --file")),
    ];
    return client.call("task/add", { tasks });
  });
  for (const warning of warnings) printError(`Warning: ${warning}`, 0);
  if (values.json === true) return printJson(added);
  const rows = added.map(({ number, title, phase }) => [`#${number}`, phase, title]);
  return print(`${columns(rows)}\nFollow progress with flint tasks watch.\n`);
}

async function fromFlags(client: FlintClient, values: Values, prompt: string): Promise<Input> {
  const { executor, reviewer, check, after = [], base, merge, allow } = values;
  const approvedBy = values["approved-by"];
  const whole = (name: "rounds" | "attempts" | "priority", least: number, most: number) => {
    const text = values[name];
    if (text === undefined) return {};
    const what = `a whole number from ${least} to ${most}`;
    const isValid = (value: number) => Number.isInteger(value) && value >= least && value <= most;
    return { [name]: numberOption(name, text, what, isValid) };
  };
  const seconds = positive(values, "max-time");
  const costUsd = positive(values, "max-cost");
  const limits = limitsOf(values);
  const enforcement = enforcementOf(values);
  const earlier = await Promise.all(after.map((text) => findTask(client, text)));
  // Workers on other machines may have other agents.
  const isLocal = values.pool === undefined && values.label === undefined && values.remote === undefined;
  if (isLocal) await checkAgents(client, [...(executor ?? []), ...(reviewer ?? [])]);
  return {
    prompt,
    cwd: process.cwd(),
    ...(executor === undefined ? {} : { executors: executor.map((model) => ({ model })) }),
    ...(reviewer === undefined ? {} : { reviewers: reviewer.map((model) => ({ model })) }),
    ...(values.reviews === undefined
      ? {}
      : { reviews: choice("reviews", values.reviews, ReviewMode.options) }),
    ...(check === undefined ? {} : { checks: check.map((command) => ({ command })) }),
    ...(values.setup === undefined ? {} : { setup: { command: values.setup } }),
    ...whole("rounds", 1, 10),
    ...whole("attempts", 1, 10),
    ...whole("priority", -100, 100),
    budget: {
      ...(seconds === undefined ? {} : { seconds }),
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(enforcement === undefined ? {} : { enforcement }),
    },
    ...(earlier.length === 0 ? {} : { after: earlier.map(({ id }) => id) }),
    ...(base === undefined ? {} : { base }),
    ...(values.at === undefined ? {} : { notBeforeMs: startTimeOf(values.at, Date.now()) }),
    ...(limits === undefined ? {} : { limits }),
    ...(values.git === undefined ? {} : { git: choice("git", values.git, GitMode.options) }),
    ...(values.pool === undefined ? {} : { pool: values.pool }),
    ...(values.label === undefined ? {} : { labels: values.label.map(labelOf) }),
    ...(values.remote === undefined ? {} : { remote: { url: values.remote } }),
    ...(merge === undefined ? {} : { merge: choice("merge", merge, MergeMode.options) }),
    ...(approvedBy === undefined ? {} : { approvedBy: choice("approved-by", approvedBy, APPROVERS) }),
    ...(allow === undefined ? {} : { allow: choice("allow", allow, ALLOWED) }),
    ...(values.network === undefined ? {} : { network: networkOf(values.network) }),
  };
}

/** Rejects the name of an agent or model that no agent on this machine has, so that the task does not fail later. */
async function checkAgents(client: FlintClient, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const problem = name.includes("/") ? undefined : await unknownAgentMessage(name);
    if (problem === undefined) continue;
    const { data } = await client.call("model/list", {});
    if (!data.some(({ id }) => id.endsWith(`/${name}`))) throw new UsageError(problem);
  }
}

function positive(values: Values, name: "max-cost" | "max-time"): number | undefined {
  const text = values[name];
  return text === undefined ? undefined : numberOption(name, text, "a number above 0", (value) => value > 0);
}

/** Returns the reaction to a usage limit, as far as the options choose it. */
function limitsOf({ "at-limit": resume, "max-wait": wait }: Values): Input["limits"] {
  if (resume === undefined && wait === undefined) return undefined;
  const isValid = (value: number) => Number.isInteger(value) && value >= 60 && value <= 14 * 86_400;
  const what = "a whole number from 60 to 1209600";
  return {
    ...(resume === undefined ? {} : { resume: choice("at-limit", resume, ResumeMode.options) }),
    ...(wait === undefined ? {} : { maxWaitSeconds: numberOption("max-wait", wait, what, isValid) }),
  };
}
