import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  agentFolder,
  agentProgram,
  leavesNoProcess,
  needs,
  type RealAgent,
  type TestRegistrar,
  WireClient,
} from "@flint/testkit";
import { onTestFinished, vi } from "vitest";
import { FLINT } from "../server.ts";
import { Terminal } from "../terminal/tmux.ts";
import { environmentIn } from "./sdk.ts";

/** A test of the real TUI with an agent behind Flint, where both are there, and a terminal. */
export function needsTui(agent: RealAgent): TestRegistrar {
  const missing = ([agent, "codex"] as const).find((name) => agentProgram(name) === undefined);
  return needs(missing ?? "tmux");
}

const STARTS_WITHIN_MS = 30_000;
/** The warning in the TUI's last line when something went wrong that it shows elsewhere. */
const WARNING = /⚠.*/g;
const READY = /^› Ask Codex to do anything$/m;
/**
 * The beginnings of its questions: about commands and files, about hosts, and about tools such as commits.
 */
const ASKED = /Would you like to|Do you want to|Allow the agent to/g;

/** A server that listens, with folders of its own, to which the real TUI connects. */
export class TuiFixture {
  readonly workspace: string;
  readonly #folder: string;
  readonly #url: string;
  readonly #token: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(folder: string, url: string, token: string, env: Readonly<Record<string, string>>) {
    this.workspace = join(folder, "workspace");
    this.#env = env;
    this.#folder = folder;
    this.#url = url;
    this.#token = token;
  }

  /** Starts `flint serve --listen` with these options in a small repository; the offline model plays the script. */
  static async make(
    options: readonly string[],
    configuration = "",
    { trustsWorkspace = true, script }: { trustsWorkspace?: boolean; script?: readonly unknown[] } = {},
  ): Promise<TuiFixture> {
    const { path: folder } = await agentFolder();
    leavesNoProcess();
    await makeFolders(folder, configuration, trustsWorkspace);
    const [cwd, home] = [join(folder, "workspace"), join(folder, "home")];
    const scriptFile = join(folder, "script.json");
    if (script !== undefined) await writeFile(scriptFile, JSON.stringify({ steps: script }));
    const env = {
      ...environmentIn(home),
      ...(script === undefined ? {} : { FLINT_OFFLINE_SCRIPT: scriptFile }),
    };
    const listen = ["serve", "--json", "--listen", "ws://127.0.0.1:0", ...options];
    const server = WireClient.spawn([process.execPath, FLINT, ...listen], { cwd, env });
    onTestFinished(async () => {
      server.kill("SIGTERM");
      await server.exited;
    });
    const listeningLine = () => server.stderr.split("\n").find((line) => line.startsWith('{"listening"'));
    const { listening, tokenFile } = JSON.parse(
      await vi.waitUntil(listeningLine, { timeout: STARTS_WITHIN_MS }),
    );
    return new TuiFixture(folder, listening, (await readFile(tokenFile, "utf8")).trim(), env);
  }

  /** The state folder of the server. */
  get home(): string {
    return join(this.#folder, "home");
  }

  /** Opens a session of Flint with these arguments at the same server. */
  session(...args: readonly string[]): Promise<Terminal> {
    const env = { ...this.#env, LANG: "C.UTF-8", TERM: "xterm-256color" };
    const command = [process.execPath, FLINT, ...args];
    return Terminal.start({ command, cwd: this.workspace, folder: this.#folder, env });
  }

  /** Starts `codex --remote` with these arguments. */
  async tui(...args: readonly string[]): Promise<CodexTui> {
    const remote = ["--remote", this.#url, "--remote-auth-token-env", "FLINT_TOKEN", "--no-alt-screen"];
    const terminal = await Terminal.start({
      command: [agentProgram("codex") ?? "codex", ...args, ...remote],
      cwd: this.workspace,
      folder: this.#folder,
      env: {
        ...environmentIn(this.home),
        CODEX_HOME: join(this.#folder, "codex"),
        FLINT_TOKEN: this.#token,
        LANG: "C.UTF-8",
        TERM: "xterm-256color",
      },
    });
    return new CodexTui(terminal);
  }
}

/** The real TUI, driven through a terminal. */
export class CodexTui {
  readonly terminal: Terminal;
  #last: string | undefined;

  constructor(terminal: Terminal) {
    this.terminal = terminal;
  }

  /** Resolves once it takes input, on this model. */
  async isReady(model: string): Promise<void> {
    await this.terminal.until(
      (text) => READY.test(text) && text.includes(`  ${model} `),
      `the input for ${model}`,
    );
  }

  /** Types a prompt or a command line by line and sends it; what is waited for from now on stands below it. */
  async ask(prompt: string): Promise<void> {
    const [first = "", ...more] = prompt.split("\n");
    await this.terminal.type(first);
    for (const line of more) {
      await this.terminal.press("C-j");
      await this.terminal.type(line);
    }
    // The prompt of a shell command replaces the usual one.
    const shown = first.startsWith("!") ? `! ${first.slice(1)}` : `› ${first}`;
    await this.terminal.until((text) => text.includes(shown), shown);
    await this.terminal.press("Enter");
    this.#last = first.startsWith("/") || first.startsWith("!") ? undefined : shown;
  }

  /** Resolves once this stands below the last prompt. */
  async shows(text: string | RegExp): Promise<void> {
    const found = (below: string) => (typeof text === "string" ? below.includes(text) : text.test(below));
    await this.terminal.until((everything) => found(this.#below(everything)), String(text));
  }

  /** Resolves once the turn of the last prompt is over. */
  async isDone(): Promise<void> {
    await this.shows("  Worked for ");
  }

  /** Answers the approval that is asked with a key, once it is about this. */
  async answer(about: string | RegExp, key: string): Promise<void> {
    await this.shows(new RegExp(ASKED.source));
    await this.shows(about);
    await this.#decide(key);
  }

  /** Returns its complaints: lines in red, but for work that failed or was declined, and warnings. */
  async troubles(): Promise<string[]> {
    const warnings = (await this.terminal.everything()).match(WARNING) ?? [];
    const red = await this.terminal.redLines();
    return [...red.filter((line) => !/^(?:• Ran|✗ You|✘ Failed) /.test(line)), ...warnings];
  }

  /** Leaves it as its user would. */
  async quit(): Promise<void> {
    await this.ask("/quit");
    if ((await this.terminal.exitCode()) !== 0) throw new Error(await this.terminal.everything());
  }

  /** Presses the key; the next question may follow at once. */
  async #decide(key: string): Promise<void> {
    const question = await this.#question();
    await this.terminal.press(key);
    await vi.waitUntil(async () => (await this.#question()) !== question, { timeout: STARTS_WITHIN_MS });
  }

  /** Returns the question that the user is asked at present. */
  async #question(): Promise<string> {
    const screen = await this.terminal.screen();
    const last = [...screen.matchAll(ASKED)].at(-1);
    return last === undefined ? "" : screen.slice(last.index);
  }

  #below(everything: string): string {
    return this.#last === undefined ? everything : everything.slice(everything.lastIndexOf(this.#last));
  }
}

/** A repository with one commit, and homes in which neither side has anything to ask about at the start. */
async function makeFolders(folder: string, configuration: string, trusts: boolean): Promise<void> {
  const [workspace, home, codex] = ["workspace", "home", "codex"].map((name) => join(folder, name));
  for (const path of [workspace, home, codex]) await mkdir(path ?? "");
  await writeFile(join(folder, "workspace/notes.txt"), "one\ntwo\n");
  await writeFile(join(folder, "home/config.toml"), configuration);
  const trusted = `[projects.${JSON.stringify(workspace)}]\ntrust_level = "trusted"\n`;
  // Keys that come as fast as these would be taken for something pasted.
  const settings = "check_for_update_on_startup = false\ndisable_paste_burst = true\n";
  await writeFile(join(folder, "codex/config.toml"), `${settings}${trusts ? trusted : ""}`);
  const git = (...args: readonly string[]) => promisify(execFile)("git", args, { cwd: workspace });
  await git("init", "--quiet");
  await git("add", ".");
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
  await git(...author, "commit", "--quiet", "-m", "first");
}
