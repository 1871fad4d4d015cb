import { type ParsedArguments, UsageError } from "../../command-line/command.ts";
import type { FlagValues } from "../../command-line/flags.ts";
import { printError } from "../../command-line/output.ts";
import { lastMessageWriter } from "../../command-line/output-file.ts";
import { runTurn } from "../exec/exec.ts";
import { imageInput, isPiped, readPiped, readSchema, textInput } from "../exec/input.ts";
import type { ExecOptions } from "../exec/options.ts";
import type { CODEX_EXEC_FLAGS } from "./flags.ts";
import { nonInteractiveServer } from "./server-options.ts";
import { type CodexSettings, readOverrides, readSettings } from "./settings.ts";

type Values = FlagValues<typeof CODEX_EXEC_FLAGS>;

/**
 * `flint exec --experimental-json` and `flint-codex exec`: runs one turn for a program that would run `codex exec`. Nothing
 * is asked, and the sandbox is read-only by default.
 */
export async function codexExec({
  values,
  positionals,
}: ParsedArguments<typeof CODEX_EXEC_FLAGS>): Promise<number> {
  const { settings, notes } = readSettings(await readOverrides(values.config ?? []));
  const options = execOptions(values, positionals, settings);
  const flags = { ...values, cwd: values.cd, addedFolders: values["add-dir"] };
  const server = await nonInteractiveServer(flags, settings);
  const schemaFile = values["output-schema"];
  const schema = schemaFile === undefined ? undefined : await readSchema(schemaFile);
  const images = await Promise.all((values.image ?? []).map(imageInput));
  for (const note of notes) printError(note, 0);
  const piped = isPiped(process.stdin) ? await readPiped(process.stdin, () => {}) : undefined;
  const input = [...textInput(promptOf(values, positionals), piped), ...images];
  const file = values["output-last-message"];
  const onAnswer = file === undefined ? undefined : lastMessageWriter(file);
  const signal = firstSignal();
  const code = await runTurn({ options, server, schema, input, effort: settings.effort, onAnswer });
  await dieBy(signal());
  // Its item says what was declined; Codex does not treat that as a failure either, and has one code for all others.
  if (code === 3) return 0;
  return code === 5 || code === 6 ? 1 : code;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type EndSignal = (typeof SIGNALS)[number];

/** Watches for the signal that ends this run. */
function firstSignal(): () => EndSignal | undefined {
  let first: EndSignal | undefined;
  for (const signal of SIGNALS) process.once(signal, () => (first ??= signal));
  return () => first;
}

/** Ends the process by the signal, as it ends Codex: programs that run it tell an abort from a failure by that. */
async function dieBy(signal: EndSignal | undefined): Promise<void> {
  if (signal === undefined) return;
  await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

function execOptions(values: Values, positionals: readonly string[], settings: CodexSettings): ExecOptions {
  const { developerInstructions } = settings;
  return {
    thread: threadOf(values, positionals),
    format: values["experimental-json"] === true || values.json === true ? "codex" : "answer",
    ephemeral: values.ephemeral === true,
    images: values.image ?? [],
    schemaFile: values["output-schema"],
    limits: undefined,
    // Options that a running server cannot apply keep the turn in this process.
    server: { cwd: values.cd, agent: values.agent, offline: values.offline, trace: values.trace },
    ...(developerInstructions === undefined ? {} : { developerInstructions }),
  };
}

/** Commands of `codex exec` that are not supported. */
const UNSUPPORTED = ["fork", "review", "help"];

function threadOf({ last }: Values, [command, id]: readonly string[]): ExecOptions["thread"] {
  if (command !== undefined && UNSUPPORTED.includes(command)) {
    throw new UsageError(`exec --experimental-json does not support ${command}, only resume THREAD.`);
  }
  if (command !== "resume") return undefined;
  if (last === true) return "newest";
  if (id === undefined || id === "") {
    throw new UsageError("resume needs the id of a thread; see flint threads list.");
  }
  return { reference: id };
}

/** The arguments after `resume` and the id of the thread, unless that is `--last`. */
function promptOf({ last }: Values, positionals: readonly string[]): readonly string[] {
  if (positionals[0] !== "resume") return positionals;
  return positionals.slice(last === true ? 1 : 2);
}
