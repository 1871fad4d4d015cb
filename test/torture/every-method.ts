import { METHODS, type Method, mintId, type ParamsInput } from "@flint/protocol";

const id = mintId();
const thread = { threadId: id };
const text = { type: "text", text: "hello" } as const;

/** Params that fit, for every method there is; all ids in them are those of nothing. */
export const FITTING_PARAMS: { readonly [Name in Method]: ParamsInput<Name> } = {
  initialize: { clientInfo: { name: "torture", version: "1" }, capabilities: { experimentalApi: true } },
  "thread/start": { name: "a name", config: {} },
  "thread/resume": { ...thread, config: {} },
  "thread/attach": thread,
  "thread/unsubscribe": thread,
  "thread/list": {},
  "thread/read": thread,
  "thread/events/list": thread,
  "thread/fork": { ...thread, lastTurnId: id },
  "thread/archive": thread,
  "thread/unarchive": thread,
  "thread/delete": thread,
  "thread/name/set": { ...thread, name: "a name" },
  "thread/rollback": { ...thread, numTurns: 1 },
  "thread/revert": { ...thread, beforeTurnId: id },
  "thread/revert/undo": { ...thread, revertId: id },
  "thread/compact/start": thread,
  "thread/queue/list": thread,
  "thread/queue/update": { ...thread, queuedInputId: id, input: [text] },
  "thread/queue/reorder": { ...thread, queuedInputIds: [id] },
  "thread/queue/delete": { ...thread, queuedInputId: id },
  "thread/queue/promote": { ...thread, queuedInputId: id },
  "turn/start": { ...thread, input: [text], sandboxPolicy: { type: "readOnly" }, outputSchema: {} },
  "thread/loaded/list": {},
  "thread/settings/update": { ...thread, config: {} },
  "thread/shellCommand": { ...thread, command: "true" },
  "thread/inject": { ...thread, messages: [{ role: "user", text: "a message" }] },
  "thread/backgroundCommands/list": thread,
  "thread/backgroundCommands/stop": { ...thread, processId: "1" },
  "thread/goal/get": thread,
  "thread/goal/set": { ...thread, objective: "a goal" },
  "thread/goal/clear": thread,
  "turn/steer": { ...thread, expectedTurnId: id, input: [text] },
  "turn/interrupt": { ...thread, turnId: id },
  "review/start": { ...thread, target: { type: "custom", instructions: "look" } },
  "approval/respond": { ...thread, approvalId: id, decision: { outcome: "deny" } },
  "question/respond": { ...thread, questionId: id, answers: { a: { answers: ["b"] } } },
  "tool/respond": { ...thread, callId: id, result: { success: true, content: [] } },
  "command/exec": { command: ["true"] },
  "model/list": {},
  "config/list": thread,
  "config/set": { ...thread, id: "thinking", value: "true" },
  "config/read": thread,
  "rules/list": { cwd: "/" },
  "rules/remove": { id },
  "mcpServerStatus/list": thread,
  "workspace/read": { cwd: "/" },
  "workspace/trust": { cwd: "/", files: [{ path: ".mcp.json", sha256: "00" }] },
  "workspace/distrust": { cwd: "/" },
  "account/read": thread,
  "agent/features/list": thread,
  "agent/skills/list": thread,
  "agent/hooks/list": thread,
  "agent/plugins/list": thread,
  "account/login/start": { agent: "nobody", type: "apiKey" },
  "account/login/cancel": { agent: "nobody", loginId: "nothing" },
  "account/logout": { agent: "nobody" },
  "account/limits/read": {},
  // There is no git repository in the folder, so no task is ever done there.
  "task/add": { tasks: [{ prompt: "p", cwd: "/nowhere" }] },
  "task/list": {},
  "task/read": { taskId: "none" },
  "task/diff": { taskId: "none" },
  "task/answer": { taskId: "none", askId: "none", answer: { choice: "fail" } },
  "task/approve": { taskId: "none", tree: null },
  "task/merge": { taskId: "none", tree: null },
  "task/reject": { taskId: "none", comments: "c" },
  "task/steer": { taskId: "none", content: "c" },
  "task/suspend": { taskId: "none" },
  "task/resume": { taskId: "none" },
  "task/suspendAll": {},
  "task/resumeAll": {},
  "task/cancel": { taskId: "none" },
  "task/retry": { taskId: "none" },
  "worker/list": {},
  "worker/drain": { name: "none" },
  "task/remove": { taskId: "none" },
  "task/clean": { dryRun: true, olderThanMs: 0 },
  "task/subscribe": {},
  "task/publish": {
    event: {
      ...{ event_id: "e", type: "session:message", id: "c", plan_id: "c", project: "/", status: "context" },
      ...{ source: "cli", v: 1, ts: "2026-01-01T00:00:00Z", extra: {} },
    },
  },
  "thread/import": { agent: "claude", sessionId: "none" },
  "thread/import/list": {},
};

/** The names of all methods. */
export const METHOD_NAMES: readonly Method[] = Object.keys(FITTING_PARAMS).filter(
  (name): name is Method => name in METHODS,
);

/** Every copy of the params of a method in which one id is replaced. */
export function withEachIdReplaced(method: Method, replacement: string): object[] {
  const params = FITTING_PARAMS[method];
  return Object.entries(params).flatMap(([field, value]) => {
    if (value === id) return [{ ...params, [field]: replacement }];
    return Array.isArray(value) && value.includes(id) ? [{ ...params, [field]: [replacement] }] : [];
  });
}
