import {
  type Answers,
  type ClientTool,
  type Item,
  type PlanEntry,
  type ToolCallResult,
  toolNameOf,
  type UserQuestion,
} from "@flint/protocol";
import { array, boolean, choice, InvalidInput, object, optional, string } from "./input.ts";
import {
  defineTool,
  done,
  failed,
  INTERRUPTED,
  runAsItem,
  type Tool,
  type ToolContext,
  type ToolOutcome,
} from "./tool.ts";

const OPTION = object({
  label: string("What can be chosen."),
  description: optional(string("What it means.")),
});

const QUESTION = object({
  id: string("A name for the answer.", { maxLength: 100 }),
  header: optional(string("Two or three words above the question.")),
  question: string("The question."),
  options: optional(array("Answers to choose from; the user may also write another.", OPTION, 20)),
  multiple: optional(boolean("Whether several can be chosen.")),
  secret: optional(boolean("Whether the answer must not be shown or kept.")),
});

/** Asks the user. */
export const ASK_USER: Tool = defineTool({
  name: "ask_user",
  description: "Asks the user. Only for what you cannot find out yourself; the turn waits for the answer.",
  readOnly: false,
  input: { questions: array("The questions, together.", QUESTION, 10) },
  async run({ questions }, context) {
    if (questions.length === 0) throw new InvalidInput("questions must not be empty.");
    // Drops undefined fields, which must not appear on the wire.
    return ask(JSON.parse(JSON.stringify(questions)) as UserQuestion[], context);
  },
});

async function ask(questions: readonly UserQuestion[], context: ToolContext): Promise<ToolOutcome> {
  const { turn, signal, itemId } = context;
  const item: Item<"toolCall"> = {
    ...{ type: "toolCall", id: itemId, tool: "ask_user", title: "Ask the user" },
    arguments: { questions },
    status: "inProgress",
  };
  turn.emit({ type: "item/started", item });
  const answers = await turn.ask(itemId, questions);
  if (signal.aborted) return INTERRUPTED;
  const isAnswered = Object.values(answers).some((answer) => answer.answers.length > 0);
  // A secret answer is for the model only; the item is stored and shown.
  const isSecret = questions.some((question) => question.secret === true);
  const result = isSecret || !isAnswered ? {} : { result: answers };
  turn.emit({
    type: "item/completed",
    item: { ...item, status: isAnswered ? "completed" : "failed", ...result },
  });
  return isAnswered
    ? { result: { status: "done", text: answerText(questions, answers) } }
    : failed("No one answered.");
}

/** The answer alone if there is one question; else each answer with the id of its question. */
function answerText(questions: readonly UserQuestion[], answers: Answers): string {
  const given = questions.map(({ id }) => [id, answers[id]?.answers.join(", ") ?? "(no answer)"] as const);
  if (questions.length === 1)
    return Object.values(answers)
      .flatMap((answer) => answer.answers)
      .join("\n");
  return given.map(([id, answer]) => `${id}: ${answer}`).join("\n");
}

/** Shows a plan: the id is for its item, the entries are the whole plan. */
export type ShowPlan = (itemId: string, explanation: string, entries: readonly PlanEntry[]) => void;

const STEP = object({
  step: string("What is done, in a few words.", { maxLength: 1000 }),
  status: choice("How it stands.", ["pending", "inProgress", "completed", "failed"]),
});

/** Shows the user the agent's plan and its progress. */
export function updatePlanTool(show: ShowPlan): Tool {
  return defineTool({
    name: "update_plan",
    description:
      "Shows the user your plan for work of several steps. Give the whole plan each time, as it is now.",
    readOnly: false,
    input: {
      explanation: optional(
        string("Why the plan is so, or what changed.", { maxLength: 5000, mayBeEmpty: true }),
      ),
      plan: array("All steps in order.", STEP, 100),
    },
    async run({ explanation, plan }, { itemId }) {
      show(itemId, explanation ?? "", plan);
      return done("The plan is shown.");
    },
  });
}

/** Makes a tool of one that a client provides: it runs at the client, and its result goes to the model. */
export function clientTool(offered: ClientTool): Tool {
  const name = toolNameOf(offered);
  const { description, namespace, inputSchema } = offered;
  return {
    name,
    description,
    // Only the client knows what it does, so calls run one after the other.
    readOnly: false,
    parameters: { ...inputSchema, type: "object" },
    run: (input, context) =>
      runAsItem({ tool: name, title: `Calls ${name}`, input }, context, async () => {
        const { itemId, turn } = context;
        const result = await turn.callTool({ itemId, tool: offered.name, namespace, arguments: input });
        const text = textOf(result);
        return result.success ? done(text) : failed(text);
      }),
  };
}

/** The result as text; an image is named by its URL, unless that is the image itself. */
function textOf({ content }: ToolCallResult): string {
  const pieces = content.map((piece) => {
    if (piece.type === "text") return piece.text;
    return piece.url.startsWith("data:") ? "[image]" : `[image: ${piece.url}]`;
  });
  return pieces.join("\n");
}
