import type { AvailableCommand, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Approval, QuestionRequest, ThreadEvent, Turn, TurnError } from "@flint/protocol";
import type { ClientRequest, QuestionAnswer } from "../asks/client-request.ts";
import { permissionOptions } from "../asks/permission.ts";
import { choiceRequest, formRequest, isAskable, isChoice } from "../asks/questions.ts";
import type { ClientAbilities } from "../capabilities.ts";
import type { OfferedCommand } from "../prompt/commands.ts";
import type { IsOwn, SessionWords, Translated, Words } from "../protocol-version.ts";
import { actionView } from "../views/tool-view.ts";
import { helloV1 } from "./hello.ts";
import { newToolCall, toolCallFields } from "./tool-calls.ts";
import { V1Translator } from "./translator.ts";
import { chunk, noticeUpdate } from "./updates.ts";

/** The first version of the protocol. */
export const V1_WORDS: Words = {
  version: 1,
  answersAtOnce: false,
  hello: helloV1,
  opened: (choices) => choices,
  options: ({ configOptions }) => configOptions,
  chosen: ({ configOptions }) => [
    update({ sessionUpdate: "config_option_update", configOptions: [...configOptions] }),
  ],
  commands: (commands) => [
    update({ sessionUpdate: "available_commands_update", availableCommands: commands.map(offered) }),
  ],
  open: (sessionId, abilities) => new V1SessionWords(sessionId, abilities),
};

function offered({ name, description, hint }: OfferedCommand): AvailableCommand {
  return { name, description, ...(hint === undefined ? {} : { input: { hint } }) };
}

/** Lets the compiler check an update. */
function update(told: SessionUpdate): SessionUpdate {
  return told;
}

class V1SessionWords implements SessionWords {
  readonly #sessionId: string;
  readonly #abilities: ClientAbilities;
  readonly #translator: V1Translator;

  constructor(sessionId: string, abilities: ClientAbilities) {
    this.#sessionId = sessionId;
    this.#abilities = abilities;
    this.#translator = new V1Translator(abilities);
  }

  translate(event: ThreadEvent, isOwn: IsOwn): Translated {
    return this.#translator.translate(event, isOwn);
  }

  moved(cwd: string): void {
    this.#translator.cwd = cwd;
  }

  history(turns: readonly Turn[]): readonly SessionUpdate[] {
    return this.#translator.history(turns);
  }

  /** This version has no words for it. */
  standing(): readonly SessionUpdate[] {
    return [];
  }

  /** Nor for this. */
  working(): readonly SessionUpdate[] {
    return [];
  }

  said(messageId: string, text: string): readonly SessionUpdate[] {
    return [chunk("agent_message_chunk", messageId, text)];
  }

  failed(turnId: string, { message }: TurnError): readonly SessionUpdate[] {
    if (this.#abilities.notices) return [noticeUpdate("error", message, this.#abilities)];
    return [chunk("agent_message_chunk", turnId, `\n${message}\n`)];
  }

  /** Clients show the question at its tool call, so they have to know that one first. */
  beforeApproval({ action }: Approval): readonly SessionUpdate[] {
    if (this.#translator.knowsTool(action.itemId)) return [];
    this.#translator.toldOfTool(action.itemId);
    return [newToolCall({ ...actionView(action, this.#translator.cwd), status: "pending" }, this.#showing)];
  }

  permission(approval: Approval): { method: string; params: object } {
    const { action } = approval;
    const fields = toolCallFields(actionView(action, this.#translator.cwd), this.#showing);
    const reason =
      action.reason === undefined || action.reason === "" ? {} : { _meta: { reason: action.reason } };
    return {
      method: "session/request_permission",
      params: {
        sessionId: this.#sessionId,
        toolCall: { ...fields, status: "pending", ...reason },
        options: permissionOptions(approval),
      },
    };
  }

  questions(request: QuestionRequest): readonly ClientRequest<QuestionAnswer>[] | undefined {
    if (!isAskable(request)) return undefined;
    if (this.#abilities.forms) return [formRequest(this.#sessionId, request)];
    if (!isChoice(request)) return undefined;
    return request.questions.map((question) => choiceRequest(this.#sessionId, request.itemId, question));
  }

  unasked({ id, questions }: QuestionRequest): readonly SessionUpdate[] {
    const asked = questions.map(({ question }) => `- ${question}`).join("\n");
    const text = `\nThe agent asked, and this client has no way to answer:\n${asked}\nAnswer with your next prompt.\n`;
    return [chunk("agent_message_chunk", id, text)];
  }

  get #showing() {
    return { terminals: this.#abilities.terminalOutput };
  }
}
