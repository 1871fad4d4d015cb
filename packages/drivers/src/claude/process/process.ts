import type { Clock, CommandBroker, McpServerConfig, TurnContext } from "@flint/core/ports";
import type { ClientTool, FlintError, ThreadSettings } from "@flint/protocol";
import { ClaudeAsk, type ClaudeFrameOf, ClaudeInitializeResult } from "@flint/protocol/claude";
import type { Trace } from "@flint/rpc";
import type { AgentProcessSpec } from "../../shared/agent-process.ts";
import { clientServerConfig, clientServers, serverReply } from "../client-tools.ts";
import { type Choices, choicesOf, claudeModel } from "../models.ts";
import { NEW_PROCESS, type ProcessMemory } from "../translate/state.ts";
import type { TurnFrame } from "../turn.ts";
import { ClaudeConnection } from "./connection.ts";
import type { SessionReference } from "./launch.ts";

/** Time within which Claude must start. */
const START_MS = 30_000;

/** Time for the user to answer whether a command that the sandbox stopped may run again, in seconds. */
const ANSWER_SECONDS = 24 * 60 * 60;

const AFTER_COMMAND = [{ matcher: "Bash", hookCallbackIds: ["flint"], timeout: ANSWER_SECONDS }];

/** The hooks that Claude calls before every use of a tool, and after every command. */
const HOOKS = {
  PreToolUse: [{ matcher: null, hookCallbackIds: ["flint"] }],
  PostToolUse: AFTER_COMMAND,
  PostToolUseFailure: AFTER_COMMAND,
};

/** Thrown if Claude does not have the session that it should resume or copy. */
export class SessionNotFound extends Error {
  override readonly name = "SessionNotFound";
}

type OutputSchema = TurnContext["outputSchema"];

/** Start options of a process. */
export interface ClaudeProcessOptions {
  readonly launch: AgentProcessSpec;
  readonly session: SessionReference;
  readonly settings: ThreadSettings;
  /** The schema that the answers of this process have to match. */
  readonly outputSchema: OutputSchema;
  /** The MCP servers, as Claude reaches them with the broker of its sandbox. */
  mcpServers(broker: CommandBroker | undefined): Promise<readonly McpServerConfig[]>;
  readonly clientTools: readonly ClientTool[];
  readonly clock: Clock;
  readonly trace: Trace | undefined;
  /** Stops the process, also while it starts. */
  readonly signal: AbortSignal;
  frame(frame: TurnFrame): void;
  /** Called with the reason if a frame that ends a turn cannot be read. */
  unreadableResult(reason: string): void;
  died(error: FlintError): void;
}

/** A running process of Claude, and the settings that it has. */
export class ClaudeProcess {
  readonly connection: ClaudeConnection;
  readonly initialized: ClaudeInitializeResult;
  memory: ProcessMemory = NEW_PROCESS;
  readonly #fixedSettings: string;
  #model: string | undefined;
  #choices: Choices = choicesOf({});

  private constructor(
    connection: ClaudeConnection,
    initialized: ClaudeInitializeResult,
    options: ClaudeProcessOptions,
  ) {
    const { settings, outputSchema } = options;
    this.connection = connection;
    this.initialized = initialized;
    this.#fixedSettings = fixedSettings(settings, outputSchema);
    this.#model = claudeModel(settings.model);
  }

  /** Resolves once Claude is initialized. Rejects with a FlintError or SessionNotFound, after the process is gone. */
  static async start(options: ClaudeProcessOptions): Promise<ClaudeProcess> {
    let refusal: ClaudeFrameOf<"result"> | undefined;
    let isInitialized = false;
    const frame = (received: TurnFrame) => {
      // A result before any turn is how Claude refuses its arguments.
      if (!isInitialized && received.type === "result") refusal = received;
      const known = replyWithoutTurn(received, options.clientTools);
      if (known === undefined) options.frame(received);
      else connection.respond(known.requestId, known.reply);
    };
    const connection = await ClaudeConnection.start(options.launch, {
      ...options,
      handlers: {
        frame,
        unreadableResult: (reason) => options.unreadableResult(reason),
        died: (error) => options.died(error),
      },
    });
    const stop = () => void connection.stop();
    options.signal.addEventListener("abort", stop, { once: true });
    if (options.signal.aborted) stop();
    // The process does not outlive a failed start.
    try {
      const initialized = await initialize(connection, options);
      isInitialized = true;
      await setMcpServers(connection, options);
      return new ClaudeProcess(connection, initialized, options);
    } catch (thrown) {
      await connection.stop();
      const { isKnown, forkOf } = options.session;
      const isResumed = isKnown || forkOf !== undefined;
      if (refusal !== undefined && isResumed) throw new SessionNotFound(refusal.errors?.join("\n"));
      throw thrown;
    } finally {
      options.signal.removeEventListener("abort", stop);
    }
  }

  /**
   * Reports whether this process can run a turn with these settings: those that cannot be changed later are
   * the same.
   */
  fits(settings: ThreadSettings, outputSchema: OutputSchema): boolean {
    return !this.connection.isClosed && fixedSettings(settings, outputSchema) === this.#fixedSettings;
  }

  /** Applies the settings of a turn. Rejects with a FlintError if Claude refuses one. */
  async adjust(settings: ThreadSettings): Promise<void> {
    const { connection } = this;
    const model = claudeModel(settings.model);
    const chosen = choicesOf(settings.config);
    const { effort, thinkingTokens, mode } = this.#choices;
    if (model !== this.#model) await connection.request({ subtype: "set_model", model: model ?? "default" });
    if (chosen.effort !== effort) {
      const effortLevel = chosen.effort ?? null;
      await connection.request({ subtype: "apply_flag_settings", settings: { effortLevel } });
    }
    if (chosen.thinkingTokens !== thinkingTokens) {
      const max_thinking_tokens = chosen.thinkingTokens ?? null;
      await connection.request({ subtype: "set_max_thinking_tokens", max_thinking_tokens });
    }
    // Claude leaves the mode when a plan is approved, so it is set for each turn.
    if (chosen.mode !== mode || chosen.mode !== "default") {
      await connection.request({ subtype: "set_permission_mode", mode: chosen.mode });
    }
    this.#model = model;
    this.#choices = chosen;
  }
}

async function initialize(
  connection: ClaudeConnection,
  { outputSchema: jsonSchema, clientTools }: ClaudeProcessOptions,
): Promise<ClaudeInitializeResult> {
  const schema = jsonSchema === undefined ? {} : { jsonSchema };
  const request = { subtype: "initialize", hooks: HOOKS, ...schema, ...clientServers(clientTools) } as const;
  return ClaudeInitializeResult.safeParse(await connection.request(request, START_MS)).data ?? {};
}

/** Servers are sent over the wire, so that no secret of theirs is an argument of the process. */
async function setMcpServers(connection: ClaudeConnection, options: ClaudeProcessOptions): Promise<void> {
  const { clientTools } = options;
  const mcpServers = await options.mcpServers(connection.broker);
  if (mcpServers.length === 0) return;
  const configured = Object.fromEntries(mcpServers.map(({ name, ...config }) => [name, config]));
  const servers = { ...clientServerConfig(clientTools), ...configured };
  await connection.request({ subtype: "mcp_set_servers", servers }, START_MS);
}

/** Most messages to the server of the client-provided tools need no turn, and come before there is one. */
function replyWithoutTurn(frame: TurnFrame, tools: readonly ClientTool[]) {
  if (frame.type !== "control_request" || frame.request.subtype !== "mcp_message") return undefined;
  const { data: ask } = ClaudeAsk.safeParse(frame.request);
  const reply = ask?.subtype === "mcp_message" ? serverReply(ask, tools) : undefined;
  return reply === undefined ? undefined : { requestId: frame.request_id, reply };
}

/** The settings that a process has from its start to its end. */
function fixedSettings(settings: ThreadSettings, outputSchema: OutputSchema): string {
  const { cwd, sandboxPolicy, developerInstructions } = settings;
  return JSON.stringify([cwd, sandboxPolicy, developerInstructions, outputSchema]);
}
