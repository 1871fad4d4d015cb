import { BoundedOutput } from "../text/bounded-output.ts";
import type { FreeHandlers } from "./handler.ts";

const DEFAULT_TIMEOUT_MS = 60_000;

/** Commands outside of any thread. */
export const commandHandlers: Pick<FreeHandlers, "command/exec"> = {
  async "command/exec"({ command, cwd, sandboxPolicy, timeoutMs }, { services, client }) {
    const settings = await services.commandSettings({ cwd: cwd ?? client.cwd, sandbox: sandboxPolicy });
    const stdout = new BoundedOutput();
    const stderr = new BoundedOutput();
    const { exitCode, ended } = await services.launch({
      command,
      cwd: settings.cwd,
      workspace: settings.cwd,
      policy: settings.sandboxPolicy,
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      onOutput: (text, stream) => (stream === "stdout" ? stdout : stderr).add(text),
    });
    const timedOut = ended === "timedOut";
    const shown = services.redactor.value({ stdout: stdout.text, stderr: stderr.text });
    const result = { exitCode, ...shown, timedOut };
    const omittedOutputBytes = stdout.omittedBytes + stderr.omittedBytes;
    return { result: omittedOutputBytes === 0 ? result : { ...result, omittedOutputBytes } };
  },
};
