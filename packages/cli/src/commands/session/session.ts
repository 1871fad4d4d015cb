import type { ReadStream, WriteStream } from "node:tty";
import { SYSTEM_CLOCK } from "@flint/core/ports";
import {
  PERMISSION_MODES,
  permissionMode,
  permissionModeDoc,
  sessionKeymap,
  UserConfig,
} from "@flint/server/config";
import { inheritedEnvironment, userConfigPath } from "@flint/server/environment";
import { NodeDevice, type PermissionChoice, SessionApp, type SessionStart } from "@flint/tui";
import { canMoveCursor } from "@flint/tui/draw";
import { DEFAULT_STATUS_LINE, DEFAULT_THEME } from "@flint/view/commands";
import { choice, noArguments, type ParsedArguments, UsageError } from "../../command-line/command.ts";
import { STOP_CODES } from "../../command-line/exit-codes.ts";
import type { FlagValues } from "../../command-line/flags.ts";
import { enforcementOf, limitsOf } from "../../command-line/limit-flags.ts";
import { print } from "../../command-line/output.ts";
import { serverOptions } from "../../command-line/server-options.ts";
import { takeFirstFrame } from "../../command-line/shown-frame.ts";
import { isInteractive } from "../../command-line/terminal.ts";
import { permissionsText } from "../exec/header.ts";
import type { RESUME_FLAGS, SESSION_FLAGS } from "./flags.ts";
import { LocalMachine } from "./machine.ts";
import { serverOpener, sessionSettings } from "./server.ts";

type SessionValues = FlagValues<typeof SESSION_FLAGS>;

/** `flint` and `flint "PROMPT"`: a session with a new thread. */
export function session({ values, positionals }: ParsedArguments<typeof SESSION_FLAGS>): Promise<number> {
  return open(values, { prompt: positionals.join(" ") });
}

/** `flint resume`: a session with a thread that exists. */
export async function resume({ values, positionals }: ParsedArguments<typeof RESUME_FLAGS>): Promise<number> {
  const { last, ...rest } = values;
  const [reference, ...more] = positionals;
  noArguments("resume", more);
  if (last === true && reference !== undefined)
    throw new UsageError("--last resumes the latest thread; leave out one of the two.");
  const requested = last === true ? "last" : reference;
  return open(rest, requested === undefined ? { choose: true } : { findThread: findThread(requested) });
}

function findThread(reference: string): NonNullable<SessionStart["findThread"]> {
  return async ({ client }) => {
    const references = await import("../threads/thread-reference.ts");
    return (await references.findThread(client, reference, process.cwd())).id;
  };
}

async function open(values: SessionValues, start: SessionStart): Promise<number> {
  if (!isInteractive() || !process.stdout.isTTY) {
    const prompt = start.prompt === undefined || start.prompt === "" ? "PROMPT" : start.prompt;
    throw new UsageError(`A session needs a terminal. To run a prompt without one: flint exec "${prompt}"`);
  }
  const options = await serverOptions(values);
  const environment = inheritedEnvironment();
  // Both are terminals, which was checked above.
  const [input, output] = [process.stdin as ReadStream, process.stdout as WriteStream];
  const config = await new UserConfig(userConfigPath()).read();
  const limits = { limits: limitsOf(values), enforcement: enforcementOf(values) };
  const settings = await sessionSettings(options, limits);
  const firstFrame = takeFirstFrame();
  const app = new SessionApp({
    device: new NodeDevice(input, output, firstFrame?.typed),
    environment,
    clock: SYSTEM_CLOCK,
    machine: new LocalMachine(options.cwd, environment),
    keymap: sessionKeymap(config),
    statusLine: config.get("status_line") ?? DEFAULT_STATUS_LINE,
    theme: config.get("theme") ?? DEFAULT_THEME,
    permissions: permissionChoices(),
    describePermissions: permissionsText,
    settings,
    connect: serverOpener(options, values),
    start,
    firstFrame,
    screen: screenOf(values.screen, environment),
  });
  return runRestoring(app);
}

/** A terminal that cannot move its cursor gets plain lines. */
function screenOf(
  given: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): "inline" | "full" | "plain" {
  if (given !== undefined) return choice("screen", given, ["inline", "full", "plain"]);
  return canMoveCursor(environment) ? "inline" : "plain";
}

const STOP_SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;

/** Runs a session, and restores the terminal however this process ends. */
async function runRestoring(app: SessionApp): Promise<number> {
  const onExit = (): void => app.close(1);
  const handlers = STOP_SIGNALS.map((signal) => [signal, () => app.close(STOP_CODES[signal])] as const);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  // An unexpected error must not leave the terminal in another mode. Node prints the error after this.
  process.on("exit", onExit);
  try {
    const code = await app.run();
    if (code === 0 && app.thread !== undefined) print(resumeHint(app.thread));
    return code;
  } finally {
    for (const [signal, handler] of handlers) process.off(signal, handler);
    process.off("exit", onExit);
  }
}

/** Returns the hint at how to resume, below the output that the session has left on the screen. */
export function resumeHint({ id, continues }: { readonly id: string; readonly continues: boolean }): string {
  return `${continues ? "The turn goes on in the background. " : ""}Continue: flint resume ${id}\n`;
}

function permissionChoices(): PermissionChoice[] {
  return PERMISSION_MODES.map((name) => {
    const { sandboxPolicy, ...settings } = permissionMode(name);
    return {
      name,
      doc: permissionModeDoc(name),
      settings: { ...settings, ...(sandboxPolicy === undefined ? {} : { sandbox: sandboxPolicy }) },
    };
  });
}
