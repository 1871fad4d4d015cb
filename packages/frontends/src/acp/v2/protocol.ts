import type { SessionConfigOption as V1Option } from "@agentclientprotocol/sdk";
import type {
  AvailableCommand,
  SessionConfigOption,
  SessionUpdate,
} from "@agentclientprotocol/sdk/experimental/v2";
import type { Approval, QuestionRequest, ThreadEvent, Turn } from "@flint/protocol";
import type { ClientRequest, QuestionAnswer } from "../asks/client-request.ts";
import { permissionOptions } from "../asks/permission.ts";
import { choiceRequest, formRequest, isAskable, isChoice } from "../asks/questions.ts";
import type { ClientAbilities } from "../capabilities.ts";
import type { OfferedCommand } from "../prompt/commands.ts";
import type { SessionWords, Translated, Words } from "../protocol-version.ts";
import type { Choices } from "../sessions/config-options.ts";
import { textBlock } from "../views/content.ts";
import { actionView } from "../views/tool-view.ts";
import { helloV2 } from "./hello.ts";
import { terminalUpdates, toolCallFields } from "./tool-calls.ts";
import { V2Translator } from "./translator.ts";
import { DONE, IDLE, RUNNING } from "./updates.ts";

/** The second version of the protocol, as its draft stands in SDK 2.4.0. */
export const V2_WORDS: Words = {
  version: 2,
  answersAtOnce: true,
  hello: helloV2,
  opened: (choices, commands) => ({
    configOptions: optionsOf(choices),
    availableCommands: commands.map(offered),
  }),
  options: optionsOf,
  chosen: (choices) => [told({ sessionUpdate: "config_option_update", configOptions: optionsOf(choices) })],
  // They came with the answer already.
  commands: () => [],
  open: (sessionId, abilities) => new V2SessionWords(sessionId, abilities),
};

function offered({ name, description, hint }: OfferedCommand): AvailableCommand {
  const input = hint === undefined ? {} : { input: { type: "text" as const, hint } };
  return { type: "command", name, description, ...input };
}

function optionsOf({ configOptions }: Choices): SessionConfigOption[] {
  return configOptions.map(optionOf);
}

/** Only the name of the id differs from the first version. */
function optionOf({ id, ...option }: V1Option): SessionConfigOption {
  const named: unknown = { configId: id, ...option };
  // The rest is the same in both versions, only typed twice.
  return named as SessionConfigOption;
}

/** Lets the compiler check an update. */
function told(update: SessionUpdate): SessionUpdate {
  return update;
}

class V2SessionWords implements SessionWords {
  readonly #sessionId: string;
  readonly #abilities: ClientAbilities;
  readonly #translator = new V2Translator();

  constructor(sessionId: string, abilities: ClientAbilities) {
    this.#sessionId = sessionId;
    this.#abilities = abilities;
  }

  translate(event: ThreadEvent): Translated {
    return this.#translator.translate(event);
  }

  moved(cwd: string): void {
    this.#translator.cwd = cwd;
  }

  history(turns: readonly Turn[]): readonly SessionUpdate[] {
    return this.#translator.history(turns);
  }

  standing(isActive: boolean): readonly SessionUpdate[] {
    return [isActive ? RUNNING : IDLE];
  }

  working(isBusy: boolean): readonly SessionUpdate[] {
    return [isBusy ? RUNNING : DONE];
  }

  said(messageId: string, text: string): readonly SessionUpdate[] {
    return [{ sessionUpdate: "agent_message", messageId, content: [textBlock(text)] }];
  }

  /** The state that ends the turn says it. */
  failed(): readonly SessionUpdate[] {
    return [];
  }

  beforeApproval({ action }: Approval): readonly SessionUpdate[] {
    if (this.#translator.knowsTool(action.itemId)) return [];
    this.#translator.toldOfTool(action.itemId);
    const view = actionView(action, this.#translator.cwd);
    const call = told({ sessionUpdate: "tool_call_update", ...toolCallFields(view, "pending") });
    return [...terminalUpdates(view, true), call];
  }

  permission(approval: Approval): { method: string; params: object } {
    const { action } = approval;
    const view = actionView(action, this.#translator.cwd);
    const described =
      action.reason === undefined || action.reason === "" ? {} : { description: action.reason };
    const toolCall = toolCallFields(view, "pending");
    const subject =
      action.kind === "command"
        ? {
            type: "command",
            command: action.command,
            cwd: action.cwd,
            toolCallId: view.id,
            terminalId: view.id,
          }
        : { type: "tool_call", toolCall };
    return {
      method: "session/request_permission",
      params: {
        ...{ sessionId: this.#sessionId, title: view.title, ...described },
        subject,
        options: permissionOptions(approval),
      },
    };
  }

  questions(request: QuestionRequest): readonly ClientRequest<QuestionAnswer>[] | undefined {
    if (!isAskable(request)) return undefined;
    if (this.#abilities.forms) return [formRequest(this.#sessionId, request)];
    if (!isChoice(request)) return undefined;
    return request.questions.map((question) => {
      const asked = choiceRequest(this.#sessionId, request.itemId, question);
      const { toolCall: _toolCall, ...params } = asked.params;
      return { ...asked, params: { ...params, title: question.question } };
    });
  }

  unasked({ id, questions }: QuestionRequest): readonly SessionUpdate[] {
    const asked = questions.map(({ question }) => `- ${question}`).join("\n");
    return this.said(
      id,
      `The agent asked, and this client has no way to answer:\n${asked}\nAnswer with your next prompt.`,
    );
  }
}
