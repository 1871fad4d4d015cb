import type { Clock } from "@flint/core/ports";
import { ClientConnection } from "@flint/frontends";
import { flintFrontend } from "@flint/frontends/flint";
import { memoryPair } from "@flint/rpc";
import { type ClientConnectOptions, connect, type FlintClient } from "@flint/sdk";
import {
  atTestEnd,
  type TestClock,
  type TestEngine,
  type TestEngineOptions,
  testEngine,
} from "@flint/testkit";
import {
  DEFAULT_STATUS_LINE,
  DEFAULT_THEME,
  keymapOf,
  type StatusPart,
  type Theme,
} from "@flint/view/commands";
import { SessionApp, type SessionStart } from "../app/app.ts";
import type { SessionServer } from "../app/connection.ts";
import type { DrawnFrame } from "../first-frame/first-frame.ts";
import type { PermissionChoice } from "../session/context.ts";
import type { ConfigKey, Machine, MachineAgent } from "../session/machine.ts";
import { XtermTerminal } from "./xterm-terminal.ts";

/** Differences of a test's session from the plain one. */
export interface SessionFixtureOptions extends TestEngineOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly screen?: "inline" | "full" | "plain";
  readonly start?: SessionStart;
  readonly statusLine?: readonly StatusPart[];
  readonly theme?: Theme;
  /** The user's own keys, as the configuration has them. */
  readonly keys?: Readonly<Record<string, readonly string[]>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly notes?: Map<string, string>;
  /** The folder of history and drafts; none by default. */
  readonly notesFolder?: string;
  /** The user's editor; none by default. */
  readonly editor?: string;
  /** Other programs of the machine, by name; none by default. */
  readonly programs?: Readonly<Record<string, string>>;
  /** The folder of the workspace. */
  readonly folder?: string;
  /** Draws what stands on the terminal before the session begins. */
  readonly firstFrame?: (terminal: XtermTerminal) => DrawnFrame;
  /** Errors with which the first attempts to connect fail. */
  readonly failures?: readonly Error[];
  /** The engine of an earlier session. */
  readonly engine?: TestEngine;
}

const PERMISSIONS: readonly PermissionChoice[] = [
  { name: "ask", doc: "ask first", settings: { approvalPolicy: "unlessTrusted" } },
  { name: "plan", doc: "read only", settings: { sandbox: { type: "readOnly" } } },
];

/** An agent that is not installed. */
const AGENT = {
  ...{ version: "not installed", loggedIn: undefined, path: undefined },
  ...{ install: "flint agents install claude", change: "install" as const },
};

const EMPTY_COMPOSER = "› Ask for something";

/** A session on a terminal emulator, with an engine in this process and a scripted agent. */
export class SessionFixture {
  readonly terminal: XtermTerminal;
  readonly engine: TestEngine;
  readonly app: SessionApp;
  readonly exit: Promise<number>;
  readonly notes: Map<string, string>;
  /** The images that the session opened. */
  readonly opened: string[] = [];
  /** Values that the session set in the user's configuration. */
  readonly config = new Map<string, unknown>();
  readonly files = new Map<string, string>();
  /** The agents that are installed. */
  readonly agents = new Map<string, Partial<MachineAgent>>();
  /** The event that an installation waits for. */
  installing: Promise<void> = Promise.resolve();
  /** Number of waiting timers of the session. */
  timers = 0;
  #clients: FlintClient[] = [];
  /** Errors with which the next attempts to connect fail. */
  readonly failures: Error[];

  constructor(options: SessionFixtureOptions = {}) {
    this.terminal = new XtermTerminal(options.columns, options.rows);
    this.failures = [...(options.failures ?? [])];
    this.engine = options.engine ?? testEngine(options);
    this.notes = options.notes ?? new Map();
    this.#screen = options.screen;
    this.#notesFolder = options.notesFolder;
    this.#editor = options.editor;
    this.#programs = options.programs ?? {};
    this.#folder = options.folder ?? "/code";
    this.app = new SessionApp({
      device: this.terminal,
      // The emulator is xterm.js.
      environment: {
        TERM: "xterm-256color",
        TERM_PROGRAM: "vscode",
        LANG: "C.UTF-8",
        ...options.environment,
      },
      clock: this.#countingClock(),
      machine: this.#machine(),
      keymap: keymapOf(options.keys),
      statusLine: options.statusLine ?? DEFAULT_STATUS_LINE,
      theme: options.theme ?? DEFAULT_THEME,
      permissions: PERMISSIONS,
      describePermissions: ({ sandboxPolicy }) => (sandboxPolicy.type === "readOnly" ? "plan" : "ask"),
      settings: options.folder === undefined ? {} : { cwd: options.folder },
      connect: () => this.#serve(),
      start: options.start ?? {},
      firstFrame: options.firstFrame?.(this.terminal),
      screen: options.screen ?? "inline",
    });
    this.exit = this.app.run();
    atTestEnd(
      async () => {
        this.app.close(0);
        await this.terminal.drawn();
      },
      () => undefined,
    );
  }

  get clock(): TestClock {
    return this.engine.clock;
  }

  /** The client of the session, as it is connected now. */
  get client(): FlintClient {
    const client = this.#clients.at(-1);
    if (client === undefined) throw new Error("The session is not connected.");
    return client;
  }

  /** A session whose first frame is drawn and whose server answers. */
  static async open(options: SessionFixtureOptions = {}): Promise<SessionFixture> {
    const fixture = new SessionFixture(options);
    await fixture.settle();
    return fixture;
  }

  /** Lets time pass until everything that was set off is on the screen. */
  async settle(milliseconds = 600): Promise<void> {
    await this.clock.advance(milliseconds);
    await this.terminal.drawn();
    this.#oneComposer();
  }

  /** Presses keys and looks at what comes of it. */
  async keys(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.terminal.type(key);
      await this.settle();
    }
  }

  /** Another client of the same server. */
  connect(options: ClientConnectOptions = {}): Promise<FlintClient> {
    const [ours, theirs] = memoryPair();
    new ClientConnection(flintFrontend(), this.engine.engine, ours);
    return connect({ ...options, transport: theirs });
  }

  /** Breaks the connection of the session, as a server that dies does. */
  async cut(): Promise<void> {
    const clients = this.#clients.splice(0);
    await Promise.all(clients.map((client) => this.#cutters.get(client)?.()));
    await this.settle(0);
  }

  /** An empty composer is on the screen once at most, in its last rows, and the cursor stands in it. */
  #oneComposer(): void {
    if (this.#screen === "plain" || this.terminal.isAlternate) return;
    const { everything, cursor, cursorLine } = this.terminal;
    const count = everything.split("\n").filter((row) => row.startsWith(EMPTY_COMPOSER)).length;
    if (count > 1) throw new Error(`The composer is to be seen ${count} times:\n${everything}`);
    if (count === 1 && !(cursorLine.startsWith(EMPTY_COMPOSER) && cursor.column === 2))
      throw new Error(
        `The cursor is not in the composer but in ${JSON.stringify(cursorLine)}:\n${everything}`,
      );
  }

  #countingClock(): Clock {
    const { clock } = this;
    const counted = (milliseconds: number, action: () => void) => {
      this.timers += 1;
      let isOver = false;
      const end = () => {
        if (!isOver) this.timers -= 1;
        isOver = true;
      };
      const cancel = clock.after(milliseconds, () => {
        end();
        action();
      });
      return () => {
        end();
        cancel();
      };
    };
    return { now: () => clock.now(), monotonic: () => clock.monotonic(), after: counted };
  }

  readonly #screen: SessionFixtureOptions["screen"];
  readonly #notesFolder: string | undefined;
  readonly #editor: string | undefined;
  readonly #programs: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #cutters = new Map<FlintClient, () => void>();

  async #serve(): Promise<SessionServer> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const open = (_: unknown, { signal }: { signal: AbortSignal }) =>
      new Promise<"leave">((resolve) => signal.addEventListener("abort", () => resolve("leave")));
    const [ours, theirs] = memoryPair();
    const connection = new ClientConnection(flintFrontend(), this.engine.engine, ours);
    const capabilities = { threadList: true };
    const client = await connect({ capabilities, onApproval: open, onQuestion: open, transport: theirs });
    this.#clients.push(client);
    this.#cutters.set(client, () => void connection.close());
    return { client, isShared: true, close: () => client.close() };
  }

  #configKeys(): readonly ConfigKey[] {
    const key = (name: string, more: Partial<ConfigKey> = {}): ConfigKey => {
      const value = this.config.get(name);
      const set = typeof value === "string" ? { value, source: "/home/me/.config/flint/config.toml" } : {};
      const none = { choices: [], value: undefined, source: undefined, lockedBy: undefined };
      return { name, doc: `About ${name}.`, takes: "a text", ...none, ...set, ...more };
    };
    const machine = "/etc/flint/config.toml";
    return [
      key("model"),
      key("theme", { takes: "one of two", choices: ["dark", "light"] }),
      key("sandbox", { value: "read-only", source: machine, lockedBy: machine }),
    ];
  }

  #machine(): Machine {
    return {
      cwd: this.#folder,
      home: "/home/me",
      host: "here",
      branchOf: () => "main",
      readNote: (name) => this.notes.get(name),
      writeNote: (name, text) => void this.notes.set(name, text),
      writeFile: async (path, text) => void this.files.set(path, text),
      notesFolder: this.#notesFolder,
      editor: this.#editor,
      searchPath: async () => process.env.PATH ?? "",
      findProgram: async (name) => this.#programs[name],
      openImage: async (source) => {
        this.opened.push(source);
        return source;
      },
      setConfig: async (key, value) => void this.config.set(key, value),
      configuration: async () => this.#configKeys(),
      changeConfig: async (key, typed) => {
        if (typed === "nonsense") throw new Error(`${key} must be something else.`);
        if (typed === undefined) this.config.delete(key);
        else this.config.set(key, typed);
        return "/home/me/.config/flint/config.toml";
      },
      agents: async () => [
        { id: "claude", name: "Claude", ...AGENT, ...this.agents.get("claude") },
        { id: "other", name: "Other", ...AGENT, version: "1.0", path: "/bin/other", change: undefined },
      ],
      agentChanges: async () => [
        { id: "claude", name: "Claude", change: this.agents.has("claude") ? "remove" : "install" },
      ],
      installAgent: async (name, progress) => {
        progress(`Downloading ${name}.`);
        await this.installing;
        if (name !== "claude") throw new Error(`No agent ${name}.`);
        this.agents.set(name, { version: "2.1", loggedIn: false, path: "/state/claude", change: "remove" });
        return `Installed ${name} 2.1.\nTo log in: flint acp --login ${name}`;
      },
      removeAgent: async (name) => (this.agents.delete(name) ? `Removed ${name}.` : `${name} is not there.`),
      doctor: async () => "All is well.",
    };
  }
}
