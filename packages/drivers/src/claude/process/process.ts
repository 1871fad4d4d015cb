import type { Clock, McpServerConfig, TurnContext } from "@flint/core/ports";
import type { ClientTool, FlintError, ThreadSettings } from "@flint/protocol";
import { ClaudeAsk, type ClaudeFrameOf, ClaudeWelcome } from "@flint/protocol/claude";
import type { Trace } from "@flint/rpc";
import type { AgentProcessSpec } from "../../shared/agent-process.ts";
import { clientServerConfig, clientServers, serverReply } from "../asks/client-tools.ts";
import { type Choices, choicesOf, claudeModel } from "../models.ts";
import { FRESH_MEMORY, type Memory } from "../translate/state.ts";
import type { TurnFrame } from "../turn.ts";
import { claudeArguments, type NativeSession } from "./arguments.ts";
import { ClaudeConnection } from "./connection.ts";
import { claudeServers } from "./mcp.ts";

/** How long Claude may take until it can be talked to. */
const START_MS = 30_000;

/** The hook that is called before every use of a tool. */
const HOOKS = { PreToolUse: [{ matcher: null, hookCallbackIds: ["flint"] }] };

/** Claude does not know the session that it was to go on with. */
export class SessionLost extends Error {
  override readonly name = "SessionLost";
}

type OutputSchema = TurnContext["outputSchema"];

/** What a process is started with. */
export interface LiveOptions {
  readonly process: Omit<AgentProcessSpec, "command" | "name" | "cwd" | "policy">;
  /** The program and the arguments that always come first. */
  readonly program: readonly string[];
  readonly session: NativeSession;
  readonly settings: ThreadSettings;
  /** What the answers of this process have to fit. */
  readonly outputSchema: OutputSchema;
  readonly instructions: string;
  readonly servers: readonly McpServerConfig[];
  readonly clientTools: readonly ClientTool[];
  readonly clock: Clock;
  readonly trace: Trace | undefined;
  /** Ends it, also while it still starts. */
  readonly stopped: AbortSignal;
  frame(frame: TurnFrame): void;
  died(error: FlintError): void;
}

/** A process of Claude that can be talked to, and what it is set to. */
export class LiveClaude {
  readonly connection: ClaudeConnection;
  readonly welcome: ClaudeWelcome;
  readonly #fixedPart: string;
  #model: string | undefined;
  #choices: Choices = choicesOf({});
  memory: Memory = FRESH_MEMORY;

  private constructor(connection: ClaudeConnection, welcome: ClaudeWelcome, options: LiveOptions) {
    const { settings, outputSchema } = options;
    this.connection = connection;
    this.welcome = welcome;
    this.#fixedPart = fixedPart(settings, outputSchema);
    this.#model = claudeModel(settings.model);
  }

  /** Resolves when it can be talked to. Rejects with a FlintError, or SessionLost; then nothing of it is left. */
  static async start(options: LiveOptions): Promise<LiveClaude> {
    const { servers, clientTools, outputSchema: jsonSchema } = options;
    let refusal: ClaudeFrameOf<"result"> | undefined;
    let isReady = false;
    const frame = (told: TurnFrame) => {
      // A turn that ends before there was one: this is how Claude refuses what it was started with.
      if (!isReady && told.type === "result") refusal = told;
      const known = knownReply(told, clientTools);
      if (known === undefined) options.frame(told);
      else connection.answer(known.requestId, known.reply);
    };
    const connection = await ClaudeConnection.start(processSpec(options), {
      ...options,
      handlers: { frame, died: (error) => options.died(error) },
    });
    const stop = () => void connection.stop();
    options.stopped.addEventListener("abort", stop, { once: true });
    if (options.stopped.aborted) stop();
    // Whatever goes wrong, the process does not stay.
    try {
      const schema = jsonSchema === undefined ? {} : { jsonSchema };
      const hello = { hooks: HOOKS, ...schema, ...clientServers(clientTools) };
      const answer = await connection.request({ subtype: "initialize", ...hello }, START_MS);
      isReady = true;
      if (servers.length > 0) {
        const all = { ...clientServerConfig(clientTools), ...claudeServers(servers) };
        await connection.request({ subtype: "mcp_set_servers", servers: all }, START_MS);
      }
      return new LiveClaude(connection, ClaudeWelcome.safeParse(answer).data ?? {}, options);
    } catch (thrown) {
      await connection.stop();
      const { isKnown, forkOf } = options.session;
      const isTakenUp = isKnown || forkOf !== undefined;
      if (refusal !== undefined && isTakenUp) throw new SessionLost(refusal.errors?.join("\n"));
      throw thrown;
    } finally {
      options.stopped.removeEventListener("abort", stop);
    }
  }

  /** Whether such a turn can be done by this process; what cannot be changed later has to be the same. */
  fits(settings: ThreadSettings, outputSchema: OutputSchema): boolean {
    return !this.connection.isOver && fixedPart(settings, outputSchema) === this.#fixedPart;
  }

  /** Sets it to what a turn wants. Rejects with a FlintError if Claude refuses. */
  async adjust(settings: ThreadSettings): Promise<void> {
    const { connection } = this;
    const model = claudeModel(settings.model);
    const wanted = choicesOf(settings.config);
    const { effort, thinkingTokens, mode } = this.#choices;
    if (model !== this.#model) await connection.request({ subtype: "set_model", model: model ?? "default" });
    if (wanted.effort !== effort) {
      const effortLevel = wanted.effort ?? null;
      await connection.request({ subtype: "apply_flag_settings", settings: { effortLevel } });
    }
    if (wanted.thinkingTokens !== thinkingTokens) {
      const max_thinking_tokens = wanted.thinkingTokens ?? null;
      await connection.request({ subtype: "set_max_thinking_tokens", max_thinking_tokens });
    }
    // An approved plan ends the mode by itself, so it is set anew for each turn.
    if (wanted.mode !== mode || wanted.mode !== "default") {
      await connection.request({ subtype: "set_permission_mode", mode: wanted.mode });
    }
    this.#model = model;
    this.#choices = wanted;
  }
}

/** What Claude says to the server of the client's tools needs no turn, and comes before there is one. */
function knownReply(frame: TurnFrame, tools: readonly ClientTool[]) {
  if (frame.type !== "control_request" || frame.request.subtype !== "mcp_message") return undefined;
  const { data: ask } = ClaudeAsk.safeParse(frame.request);
  const reply = ask?.subtype === "mcp_message" ? serverReply(ask, tools) : undefined;
  return reply === undefined ? undefined : { requestId: frame.request_id, reply };
}

function processSpec(options: LiveOptions): AgentProcessSpec {
  const { program, session, settings, instructions } = options;
  const { cwd, sandboxPolicy: policy } = settings;
  const model = claudeModel(settings.model);
  const command = [...program, ...claudeArguments({ session, model, policy, instructions })];
  return { ...options.process, name: "Claude", command, cwd, policy };
}

function fixedPart(settings: ThreadSettings, outputSchema: OutputSchema): string {
  const { cwd, sandboxPolicy, developerInstructions } = settings;
  return JSON.stringify([cwd, sandboxPolicy, developerInstructions, outputSchema]);
}
