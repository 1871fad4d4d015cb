import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { Bubblewrap } from "../../sandbox/mechanisms/bubblewrap.ts";
import type { NamespaceTools } from "../namespace.ts";
import { writeNodePrograms } from "../node-programs.ts";
import { socketFilter } from "../seccomp.ts";
import { ThreadNetwork, type ThreadNetworkOptions } from "../thread-network.ts";

/** The result of a command. */
export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The programs of this machine, as the sandbox finds them. */
export function networkTools(searchPath: string = process.env.PATH ?? ""): NamespaceTools {
  const find = (name: string) => {
    const found = searchPath.split(":").map((folder) => join(folder, name));
    const program = found.find((file) => isExecutable(file));
    if (program === undefined) throw new Error(`${name} is not on PATH`);
    return program;
  };
  const { networkHolder: holder } = new Bubblewrap(find("bwrap"), searchPath);
  return { holder, nsenter: find("nsenter"), node: process.execPath };
}

/** The network of a thread with a folder for its programs and commands, and a way to run commands in it. */
export class NetworkFixture {
  readonly network: ThreadNetwork;
  /** A folder that commands may write. */
  readonly home: string;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #tools: NamespaceTools;
  #count = 0;

  private constructor(network: ThreadNetwork, home: string, tools: NamespaceTools, variables: object) {
    this.network = network;
    this.home = home;
    this.#tools = tools;
    this.#environment = { PATH: process.env.PATH ?? "", HOME: home, ...variables };
  }

  static async create(
    options: Partial<ThreadNetworkOptions> = {},
    variables: Readonly<Record<string, string>> = {},
  ): Promise<NetworkFixture> {
    const home = mkdtempSync("/var/tmp/flint-network-test-");
    const programs = await writeNodePrograms(join(home, "programs"));
    const tools = options.tools ?? networkTools();
    return new NetworkFixture(new ThreadNetwork({ ...options, tools, programs }), home, tools, variables);
  }

  /** Runs a shell script the way the sandbox starts commands. */
  async run(
    script: string,
    options: { readonly id?: string; readonly hosts?: readonly string[] } = {},
  ): Promise<Outcome> {
    this.#count += 1;
    const { id = `command-${this.#count}`, hosts = [] } = options;
    const command = await this.network.openCommand({ id, hosts, environment: this.#environment });
    const environment = { ...this.#environment, ...command.environment };
    try {
      return await run([...command.enter, ...this.#bubblewrap, "--", "/bin/sh", "-c", script], environment);
    } finally {
      command.release();
    }
  }

  async remove(): Promise<void> {
    await this.network.dispose();
    rmSync(this.home, { recursive: true, force: true });
  }

  get #bubblewrap(): string[] {
    return [
      ...[
        ...this.#tools.holder.slice(0, 1),
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--tmpfs",
        "/tmp",
      ],
      ...["--bind", this.home, this.home, "--chdir", this.home, "--unshare-user", "--unshare-pid"],
      ...["--cap-drop", "ALL", "--disable-userns", "--die-with-parent", "--new-session", "--seccomp", "3"],
    ];
  }
}

async function run(
  [program = "", ...args]: readonly string[],
  env: Record<string, string>,
): Promise<Outcome> {
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const [, out, error, filter] = child.stdio;
  if (out === null || error === null || filter === null || filter === undefined || !("end" in filter))
    throw new Error("no pipes");
  filter.on("error", () => undefined);
  filter.end(socketFilter());
  const exited = new Promise<number>((resolve) => child.once("close", (code) => resolve(code ?? 255)));
  const [stdout, stderr, exitCode] = await Promise.all([text(out), text(error), exited]);
  return { exitCode, stdout, stderr };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // Not there, or not to be run: both mean no.
  }
}
