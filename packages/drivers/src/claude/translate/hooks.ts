import type { Item } from "@flint/protocol";
import type { ClaudeFrameOf } from "@flint/protocol/claude";
import { stringField } from "../../shared/json.ts";
import { newItemId, type Step, type TranslateState } from "./state.ts";

type SystemFrame = ClaudeFrameOf<"system">;

/** Maximum length of a hook's output that is shown; Claude's own log has all of it. */
const OUTPUT_CHARACTERS = 16_384;

/** The exit code with which a hook keeps Claude from continuing. */
const BLOCKS = 2;

/** A hook of the user's settings that begins. */
export function hookStarted(state: TranslateState, frame: SystemFrame): Step {
  const hookId = stringField(frame, "hook_id");
  if (hookId === undefined || state.hooks.has(hookId)) return [state, []];
  const [next, item] = newHook(state, frame);
  return [{ ...next, hooks: new Map(next.hooks).set(hookId, item) }, [{ type: "item/started", item }]];
}

/** A hook that has ended. One whose start was not reported, as by older versions, is shown all the same. */
export function hookEnded(state: TranslateState, frame: SystemFrame): Step {
  const hookId = stringField(frame, "hook_id") ?? "";
  const known = state.hooks.get(hookId);
  const [next, item] = known === undefined ? newHook(state, frame) : ([state, known] as const);
  const hooks = new Map(next.hooks);
  hooks.delete(hookId);
  const ended: Item<"hookRun"> = { ...item, ...endOf(frame) };
  const started = known === undefined ? [{ type: "item/started", item } as const] : [];
  return [{ ...next, hooks }, [...started, { type: "item/completed", item: ended }]];
}

function newHook(state: TranslateState, frame: SystemFrame): readonly [TranslateState, Item<"hookRun">] {
  const [next, id] = newItemId(state);
  const name = stringField(frame, "hook_name") ?? "";
  const event = stringField(frame, "hook_event") ?? name.split(":")[0] ?? "";
  return [next, { type: "hookRun", id, event, ...(name === "" ? {} : { name }), status: "inProgress" }];
}

function endOf(frame: SystemFrame): Pick<Item<"hookRun">, "status" | "output" | "exitCode"> {
  const { exit_code: exitCode } = frame;
  const streams = [stringField(frame, "stdout") ?? "", stringField(frame, "stderr") ?? ""];
  const written = streams.filter((text) => text !== "").join("\n") || (stringField(frame, "output") ?? "");
  return {
    status: statusOf(stringField(frame, "outcome"), exitCode),
    ...(written === "" ? {} : { output: written.slice(0, OUTPUT_CHARACTERS) }),
    ...(typeof exitCode === "number" ? { exitCode } : {}),
  };
}

function statusOf(outcome: string | undefined, exitCode: unknown): Item<"hookRun">["status"] {
  if (exitCode === BLOCKS) return "blocked";
  if (outcome === "error" || outcome === "cancelled") return "failed";
  return exitCode === undefined || exitCode === 0 ? "completed" : "failed";
}
