import { isRecord } from "@flint/protocol";
import type { TestContext } from "../test-context.ts";
import { at, expectFit, formatValue, NON_EMPTY_STRING, NotOffered, stringAt } from "../wire/pattern.ts";
import { type Message, resultOf, type Wire } from "../wire/wire.ts";

/** Capabilities that the checks declare: none that an agent could lean on. */
export const INITIALIZE_PARAMS = {
  protocolVersion: 1,
  clientInfo: { name: "flint-conformance", version: "1" },
  clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
} as const;

/** Prompts that lead most agents to ask for permission, tried in this order; NAME is a new name each time. */
const ASKING = ["create NAME.txt that says hi", "run `touch NAME.txt`"];

/** The answers of initialize, by connection. */
const ABILITIES = new WeakMap<Wire, Message>();

/** The handshake of a proper client. */
export async function initialize(wire: Wire): Promise<void> {
  ABILITIES.set(wire, await wire.result("initialize", INITIALIZE_PARAMS));
}

/** The connection that most checks share, after its handshake. */
export async function acpWire(trial: TestContext): Promise<Wire> {
  return trial.shared(initialize);
}

/** Fails as "not offered" unless the agent said in initialize that it has this. */
export function requiresCapability(wire: Wire, ...path: readonly string[]): void {
  const ability = at(ABILITIES.get(wire), "agentCapabilities", ...path);
  const offered = ability !== undefined && ability !== null && ability !== false;
  if (!offered) throw new NotOffered(`agentCapabilities.${path.join(".")} is not advertised`);
}

/** The answer to a permission request. */
export type Choice = "allow_once" | "reject_once" | "cancelled";

/** A session for one check. */
export class AcpSession {
  readonly wire: Wire;
  readonly id: string;
  /** The whole answer to session/new. */
  readonly opened: Message;
  readonly #trial: TestContext;

  private constructor(trial: TestContext, wire: Wire, opened: Message) {
    this.#trial = trial;
    this.wire = wire;
    this.opened = opened;
    this.id = stringAt(opened, "sessionId");
  }

  /** Opens a session in the folder of the checks. An agent that wants a login first is "not offered". */
  static async open(trial: TestContext, wire: Wire): Promise<AcpSession> {
    const answer = await wire.ask("session/new", { cwd: trial.cwd, mcpServers: [] });
    if (at(answer, "error", "code") === -32000) throw new NotOffered("the agent wants a login first");
    const opened = resultOf("session/new", answer);
    expectFit("session/new", opened, { sessionId: NON_EMPTY_STRING });
    return new AcpSession(trial, wire, opened);
  }

  /** Sends a prompt without waiting for its end. */
  begin(text: string): number {
    return this.wire.begin("session/prompt", { sessionId: this.id, prompt: promptOf(text) });
  }

  /** Waits for the end of a prompt; fails the check if it is refused. */
  async ended(id: number): Promise<Message> {
    return resultOf("session/prompt", await this.wire.answerTo(id));
  }

  /** Runs a prompt to its end. */
  async run(text: string): Promise<Message> {
    return this.ended(this.begin(text));
  }

  /** The updates of this session from a place on. */
  updates(after: number): Message[] {
    return this.wire.since(after).flatMap((message) => this.#updateIn(message));
  }

  /** Those of them that came before a message. */
  updatesBefore(message: Message, after: number): Message[] {
    const came = this.wire.since(after);
    return came.slice(0, came.indexOf(message)).flatMap((one) => this.#updateIn(one));
  }

  /** Sends prompts until the agent asks for permission; "not offered" if none of them brings it to that. */
  async provoke(): Promise<PendingApproval> {
    for (const asking of ASKING) {
      const name = this.#trial.name();
      const after = this.wire.mark;
      const prompt = this.begin(asking.replace("NAME", name));
      const message = await this.wire.waitFor(
        (one) => isPermission(one, this.id) || (one.id === prompt && !("method" in one)),
        { after, what: "a request for permission, or the end of the prompt" },
      );
      if (isPermission(message, this.id)) return { prompt, after, name: `${name}.txt`, request: message };
    }
    throw new NotOffered(
      `the agent asked for no permission on ${ASKING.map((text) => formatValue(text)).join(" or ")}`,
    );
  }

  /** Answers a request for permission. */
  answer({ request }: PendingApproval, choice: Choice): void {
    if (choice === "cancelled") {
      this.wire.answer(request.id, { outcome: { outcome: "cancelled" } });
      return;
    }
    const options = at(request, "params", "options");
    const option = (Array.isArray(options) ? options : []).find((one) => at(one, "kind") === choice);
    if (option === undefined)
      throw new NotOffered(`no option of the permission is ${choice}: ${formatValue(options)}`);
    const outcome = { outcome: "selected", optionId: stringAt(option, "optionId") };
    this.wire.answer(request.id, { outcome });
  }

  /** Stops the running prompt as a client does, and resolves with its answer. */
  async cancel({ prompt, request }: PendingApproval): Promise<Message> {
    this.wire.notify("session/cancel", { sessionId: this.id });
    this.wire.answer(request.id, { outcome: { outcome: "cancelled" } });
    return this.ended(prompt);
  }

  #updateIn({ method, params }: Message): Message[] {
    const update = at(params, "update");
    const own = method === "session/update" && at(params, "sessionId") === this.id;
    return own && isRecord(update) ? [update] : [];
  }
}

/** A prompt that waits for a permission. */
export interface PendingApproval {
  /** The id of the prompt's request. */
  readonly prompt: number;
  readonly after: number;
  /** The file that would be made. */
  readonly name: string;
  readonly request: Message;
}

/** Text as a prompt. */
export function promptOf(text: string): readonly object[] {
  return [{ type: "text", text }];
}

function isPermission({ method, params }: Message, sessionId: string): boolean {
  return method === "session/request_permission" && at(params, "sessionId") === sessionId;
}

/** A session of its own for a check, on the connection that most of them share. */
export async function sessionOf(trial: TestContext): Promise<AcpSession> {
  return AcpSession.open(trial, await acpWire(trial));
}
