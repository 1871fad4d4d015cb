/** Steps of a fake Claude: what it expects, and what it sends. */

/** The response to `initialize`. */
export const WELCOME = [
  { expect: { type: "control_request", request_id: "$request", request: { subtype: "initialize" } } },
  {
    send: {
      type: "control_response",
      response: { subtype: "success", request_id: "$request", response: { models: [] } },
    },
  },
] as const;

const INIT = { type: "system", subtype: "init", session_id: "a-session", tools: [], model: "m" };

/** The beginning of a turn that Claude initiates. */
export const AGENT_INITIATED = [{ send: INIT }] as const;

/** The beginning of a turn, with the replay of its prompt. */
export const BEGIN = [
  { expect: { type: "user", uuid: "$prompt" } },
  { send: INIT },
  { send: { type: "user", message: { role: "user", content: "hello" }, uuid: "$prompt", isReplay: true } },
] as const;

/** A complete text message. */
export function message(text: string) {
  const content = [{ type: "text", text }];
  return { send: { type: "assistant", message: { id: "m1", content } } } as const;
}

/** The end of a turn. */
export const DONE = [
  { send: { type: "result", subtype: "success", is_error: false, result: "Well." } },
  { forget: "prompt" },
] as const;
