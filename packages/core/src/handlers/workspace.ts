import { BoundedOutput } from "../text/bounded.ts";
import type { GlobalHandlers, HandlerContext } from "./handler.ts";

const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Handlers for what belongs to a folder and not to a thread: its configuration files and whether they are
 * trusted, and commands.
 */
export const workspaceHandlers: Pick<
  GlobalHandlers,
  "workspace/read" | "workspace/trust" | "workspace/distrust" | "command/exec"
> = {
  async "workspace/read"({ cwd }, context) {
    return { result: await filesOf(cwd, context) };
  },

  async "workspace/trust"({ cwd, files }, context) {
    await context.services.options.workspaces.trust(cwd, files);
    return { result: await filesOf(cwd, context) };
  },

  async "workspace/distrust"({ cwd }, context) {
    await context.services.options.workspaces.distrust(cwd);
    return { result: await filesOf(cwd, context) };
  },

  async "command/exec"({ command, cwd, sandboxPolicy, timeoutMs }, { services, client }) {
    const settings = await services.settings.forCommand({ cwd: cwd ?? client.cwd, sandbox: sandboxPolicy });
    const stdout = new BoundedOutput();
    const stderr = new BoundedOutput();
    const {
      exitCode,
      ended,
      denials = [],
    } = await services.launch({
      command,
      cwd: settings.cwd,
      workspace: settings.cwd,
      policy: settings.sandboxPolicy,
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      onOutput: (text, stream) => (stream === "stdout" ? stdout : stderr).add(text),
    });
    const timedOut = ended === "timedOut";
    const shown = services.redactor.value({ stdout: stdout.text, stderr: stderr.text });
    const stopped = denials.map(({ evidence, needs }) => {
      return { evidence: services.redactor.text(evidence), ...(needs === undefined ? {} : { needs }) };
    });
    const result = { exitCode, ...shown, timedOut, ...(stopped.length === 0 ? {} : { denials: stopped }) };
    const omittedOutputBytes = stdout.omittedBytes + stderr.omittedBytes;
    return { result: omittedOutputBytes === 0 ? result : { ...result, omittedOutputBytes } };
  },
};

async function filesOf(cwd: string, { services }: HandlerContext) {
  return { files: [...(await services.options.workspaces.files(cwd))] };
}
