// Measures what the sandbox costs. Arguments: the workspace and how many rounds. Writes JSON: the milliseconds of
// `true` in each round, started unconfined, and confined in each way that this machine has.
import { CommandSandbox, type MechanismName } from "@flint/host/sandbox";
import type { SandboxPolicy } from "@flint/protocol";
import { interleave } from "../../report/rounds.ts";

const [workspace = "", rounds = "1"] = process.argv.slice(2);

async function timed(sandbox: CommandSandbox, policy: SandboxPolicy): Promise<number> {
  const start = performance.now();
  const { exitCode } = await sandbox.launch({
    ...{ command: ["true"], cwd: workspace, workspace, policy },
    onOutput: (text) => process.stderr.write(text),
  });
  if (exitCode !== 0) throw new Error(`true ended with ${exitCode}`);
  return performance.now() - start;
}

async function contenders(): Promise<Record<string, () => Promise<number>>> {
  const unconfined = new CommandSandbox({ environment: process.env });
  const found: Record<string, () => Promise<number>> = {
    unconfined: () => timed(unconfined, { type: "dangerFullAccess" }),
  };
  for (const name of ["bubblewrap", "namespaces"] satisfies MechanismName[]) {
    const sandbox = new CommandSandbox({ environment: process.env, mechanisms: [name] });
    const { available } = await sandbox.state();
    if (available) found[name] = () => timed(sandbox, { type: "workspaceWrite" });
  }
  return found;
}

process.stdout.write(JSON.stringify(await interleave(Number(rounds), await contenders())));
