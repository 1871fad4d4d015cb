import type { FlintClient } from "@flint/sdk";

const VERSION_MS = 10_000;

/** The first line of `--version`; undefined if the program fails or takes too long. */
export async function versionOf(
  client: FlintClient,
  program: string,
  cwd: string,
): Promise<string | undefined> {
  const asked = client.call("command/exec", { command: [program, "--version"], cwd, timeoutMs: VERSION_MS });
  const answer = await asked.catch(() => undefined);
  const [line = ""] = (answer?.exitCode === 0 ? answer.stdout : "").trim().split("\n");
  return line === "" ? undefined : line;
}

/** The number in what a program prints about its version. */
export function versionNumber(line: string | undefined): string | undefined {
  return line === undefined ? undefined : (/\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?/.exec(line)?.[0] ?? line);
}
