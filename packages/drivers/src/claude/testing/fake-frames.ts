/** Steps of a fake Claude that is talked to as the real one: what it is sent, and what it answers. */

/** How it begins: it is asked who it is. */
export const WELCOME = [
  { expect: { type: "control_request", request_id: "$hello", request: { subtype: "initialize" } } },
  {
    send: {
      type: "control_response",
      response: { subtype: "success", request_id: "$hello", response: { models: [] } },
    },
  },
] as const;

const INIT = { type: "system", subtype: "init", session_id: "a-session", tools: [], model: "m" };

/** The beginning of a turn that nobody asked for. */
export const UNASKED = [{ send: INIT }] as const;

/** The beginning of a turn: what was asked is told back when it is taken up. */
export const BEGIN = [
  { expect: { type: "user", uuid: "$prompt" } },
  { send: INIT },
  { send: { type: "user", message: { role: "user", content: "hello" }, uuid: "$prompt", isReplay: true } },
] as const;

/** A text that is said whole. */
export function says(text: string) {
  const message = { id: "m1", content: [{ type: "text", text }] };
  return { send: { type: "assistant", message } } as const;
}

/** The end of a turn. */
export const DONE = [
  { send: { type: "result", subtype: "success", is_error: false, result: "Well." } },
  { forget: "prompt" },
] as const;
