import type { ToolResult } from "@flint/agent/model";

/** A call of a tool that has no id yet. */
export interface Wish {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What is done at once: thought, said, and asked of the tools. */
export interface Step {
  readonly think?: string;
  readonly say?: string;
  readonly wishes: readonly Wish[];
}

/** The end of the work on a request. */
export interface Answer {
  readonly think?: string;
  readonly text: string;
  /** Set if the text is JSON already. */
  readonly isJson?: boolean;
  /** Counts aloud after the text; as one text it would be too long. */
  readonly countTo?: number;
}

/**
 * The work on one request, written as it happens: every step waits for its results. It is run again from its
 * beginning in each step of the model, so it must depend on nothing but what it is given.
 */
export type Flow<Result = Answer> = Generator<Step, Result, readonly ToolResult[]>;

/** Where a flow stands after the results so far: at the next step, or at its answer. */
export type Stand =
  | { readonly step: Step /** How many calls came before. */; readonly calls: number }
  | { readonly answer: Answer };

/** Runs a flow as far as the results reach. */
export function advance(flow: Flow, results: readonly ToolResult[]): Stand {
  let calls = 0;
  let turn = flow.next();
  while (turn.done !== true) {
    const wanted = turn.value.wishes.length;
    if (results.length < calls + wanted) return { step: turn.value, calls };
    turn = flow.next(results.slice(calls, calls + wanted));
    calls += wanted;
  }
  return { answer: turn.value };
}

/** Uses one tool and gives what came of it. */
export function* use(wish: Wish, say?: string): Flow<ToolResult> {
  const [result] = yield { wishes: [wish], ...(say === undefined ? {} : { say }) };
  return result ?? { status: "failed", text: "" };
}

/** The same flow, with a thought before the first thing it does. */
export function* thinkFirst(think: string, flow: Flow): Flow {
  let turn = flow.next();
  if (turn.done === true) return { ...turn.value, think };
  let results = yield { ...turn.value, think };
  for (turn = flow.next(results); turn.done !== true; turn = flow.next(results)) results = yield turn.value;
  return turn.value;
}
