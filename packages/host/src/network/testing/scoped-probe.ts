import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { CommandSandbox } from "../../sandbox/command-sandbox.ts";
import type { MechanismName } from "../../sandbox/mechanisms/launch.ts";

/** Observations of a thread's command in a sandbox with this mechanism. */
export interface ScopedProbe {
  readonly limitations: readonly string[];
  readonly user: string;
  /** The outcome for vsock, packet and AF_ALG sockets, and for a TCP one: an errno, or "open". */
  readonly sockets: string;
  /** The same with the whole network, and for an agent. */
  readonly openSockets: string;
  readonly agentSockets: string;
  /** The outcome of a connection to a port of the machine. */
  readonly direct: string;
  /** The proxy's answer about a host that was declined, and the hosts that were asked about. */
  readonly proxied: string;
  readonly asked: readonly string[];
}

const SOCKETS = `for my $family (40, 17, 38, 2) { print socket(my $s, $family, $family == 38 ? 5 : 1, 0) ? "open" : $! + 0, " " }`;
const DIRECT = `use Socket; socket(S, 2, 1, 0); print connect(S, pack_sockaddr_in($ARGV[0], inet_aton("127.0.0.1"))) ? "reached" : $! + 0`;

/** Runs commands of a thread, and reports what they could do. Port is one of the user's machine. */
export async function probeScope(mechanism: MechanismName, port: number): Promise<ScopedProbe> {
  const folder = mkdtempSync("/var/tmp/flint-scope-probe-");
  const workspace = join(folder, "workspace");
  mkdirSync(workspace);
  const environment = { PATH: process.env.PATH ?? "", HOME: workspace };
  const sandbox = new CommandSandbox({
    environment,
    mechanisms: [mechanism],
    scopeFolder: join(folder, "state"),
  });
  const asked: string[] = [];
  const decide = async ({ host }: { readonly host: string }) => {
    asked.push(host);
    return { allowed: false, reason: "it was declined" } as const;
  };
  const scope = { id: "t", privateGit: false, decide };
  const run = async (script: string, networkAccess = false) => {
    let printed = "";
    const onOutput = (text: string) => {
      printed += text;
    };
    const policy = { type: "workspaceWrite", networkAccess } as const;
    await sandbox.launch({
      command: ["sh", "-c", script],
      cwd: workspace,
      workspace,
      policy,
      scope,
      onOutput,
    });
    return printed.trim();
  };
  const runAgent = async (script: string) => {
    const running = await sandbox.start({
      ...{ command: ["sh", "-c", script], cwd: workspace, workspace, scope },
      ...{ policy: { type: "workspaceWrite" }, environment: {}, hosts: ["model.example"] },
    });
    const printed = await text(running.stdout);
    await running.exited;
    return printed.trim();
  };
  // Whatever comes of it, nothing is left behind.
  try {
    return {
      limitations: (await sandbox.state()).limitations ?? [],
      user: await run("id -u"),
      sockets: await run(`perl -e '${SOCKETS}'`),
      openSockets: await run(`perl -e '${SOCKETS}'`, true),
      agentSockets: await runAgent(`perl -e '${SOCKETS}'`),
      direct: await run(`perl -e '${DIRECT}' ${port}`),
      proxied: await run("curl -sS http://other.example/"),
      asked,
    };
  } finally {
    await sandbox.closeScope("t");
    rmSync(folder, { recursive: true, force: true });
  }
}
