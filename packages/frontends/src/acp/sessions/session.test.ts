import { type ThreadEvent, threadIdOf } from "@flint/protocol";
import { type CheckedMessage, describeTranslation, TestClock } from "@flint/testkit";
import { type Ask, ClientAsks } from "../../shared/client-asks.ts";
import { Encoder, type Notification } from "../../shared/encoder.ts";
import type { Client } from "../../shared/frontend.ts";
import { capabilitiesV1, capabilitiesV2 } from "../capabilities.ts";
import type { InitializedClient } from "../client-state.ts";
import { V1 } from "../v1/protocol.ts";
import { V2 } from "../v2/protocol.ts";
import { ACP } from "../vocabulary.ts";
import { AcpSession } from "./session.ts";

/** Records what the client would be asked. */
class RecordingAsks extends ClientAsks {
  readonly #messages: CheckedMessage[];

  constructor(client: Client, messages: CheckedMessage[]) {
    super(client);
    this.#messages = messages;
  }

  override ask(ask: Ask): void {
    // Every ACP approval is decided in one step, so an answer is a call.
    this.#messages.push(ask as Extract<CheckedMessage, { kind: "ask" }>);
  }

  override resolve(key: string): void {
    this.#messages.push({ kind: "resolved", key });
  }
}

/** Returns the messages of a session that has just been opened for an event. */
function messagesOf(event: ThreadEvent, self: InitializedClient): CheckedMessage[] {
  const messages: CheckedMessage[] = [];
  const client: Client = {
    core: { call: () => Promise.reject(new Error("a session translates without the core")) },
    introduce: () => undefined,
    notify: (method, params) => void messages.push({ kind: "notification", method, params }),
    sendLine: (line) => void messages.push({ kind: "notification", ...JSON.parse(line) }),
    request: () => Promise.reject(new Error("requests go through the asks")),
    provideHost: () => undefined,
    isSubscribed: () => true,
    isOnlySubscriber: () => true,
  };
  const asks = new RecordingAsks(client, messages);
  const encoder = new Encoder<Notification>(ACP.header);
  const options = {
    client,
    asks,
    self,
    shared: { encoder, clock: new TestClock(), use: { terminal: false, fs: false } },
    onConfigChange: () => undefined,
    onCommandsChange: () => undefined,
  };
  const session = new AcpSession(threadIdOf(event) ?? "thread", options);
  session.release();
  session.event(event);
  return messages;
}

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });

const SAMPLES = {
  consents: { "session/request_permission": [selected("allow_once"), selected("allow_always")] },
  refusals: {
    "session/request_permission": [
      ...[selected("reject_once"), selected("reject_always"), selected("allow_always:unknown")],
      { outcome: { outcome: "cancelled" } },
    ],
  },
};

const CLIENTS: readonly InitializedClient[] = [
  { version: V1, capabilities: capabilitiesV1({ elicitation: { form: {} } }), name: "" },
  { version: V2, capabilities: capabilitiesV2({}), name: "" },
];

for (const self of CLIENTS) {
  const tables = { vocabulary: ACP, events: (event: ThreadEvent) => messagesOf(event, self) };
  describeTranslation(`a session in version ${self.version.version}`, tables, SAMPLES);
}
