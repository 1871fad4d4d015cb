import { reviewCommands } from "@flint/agent/review-commands";
import { singleQuote } from "@flint/core/text";
import { describeFile, describeProject } from "./descriptions.ts";
import { describeReview } from "./diff.ts";
import { appendTo, fileText, fileView, replaceIn, type TextEdit } from "./file-text.ts";
import { count, describeListing, describeMatches, describeRun, failure, namesIn } from "./replies.ts";
import { call, type Task, type TaskContext } from "./task.ts";
import type { Toolbox } from "./toolbox.ts";

/** Lists a folder. */
export function* list(path: string | undefined, { tools }: TaskContext): Task {
  return describeListing(yield* call(tools.list(path)), path);
}

/** Runs a command. */
export function* run(command: string, { tools }: TaskContext): Task {
  return describeRun(command, yield* call(tools.run(command)));
}

/** Finds files by name. */
export function* find(name: string, { tools }: TaskContext): Task {
  return describeMatches(name, "file", yield* call(tools.find(name)));
}

/** Searches the files for a text. */
export function* search(text: string, { tools }: TaskContext): Task {
  return describeMatches(`\`${text}\``, "line", yield* call(tools.search(text)));
}

/** Describes a file. */
export function* explain(path: string, { tools }: TaskContext): Task {
  const result = yield* call(tools.read(path));
  return result.status === "done" ? describeFile(path, fileText(result)) : failure(`read ${path}`, result);
}

/** Describes the project by what its own files say. */
export function* overview({ tools }: TaskContext): Task {
  const listing = yield* call(tools.list(), "I look at what the project says about itself.");
  if (listing.status !== "done") return failure("look into the folder", listing);
  const names = namesIn(listing.text);
  const contents: (string | undefined)[] = [];
  for (const name of [/^readme(\.\w+)?$/i, /^package\.json$/]) {
    const file = names.find((each) => name.test(each));
    const read = file === undefined ? undefined : yield* call(tools.read(file));
    contents.push(read?.status === "done" ? fileText(read) : undefined);
  }
  return describeProject(contents[0], contents[1]);
}

/** Writes a whole file. */
export function* write(path: string, content: string, { tools }: TaskContext): Task {
  const result = yield* call(tools.write(path, content));
  if (result.status !== "done") return failure(`write ${path}`, result);
  return `Done: ${result.text.trim() || `wrote ${path}.`}`;
}

/** Replaces a text everywhere in a file. */
export function* replace(path: string, from: string, to: string, { tools }: TaskContext): Task {
  const read = yield* call(tools.read(path));
  if (read.status !== "done") return failure(`read ${path}`, read);
  const edit = replaceIn(fileText(read), from, to);
  if (edit === undefined) return `I changed nothing: ${path} does not contain \`${from}\`.`;
  const done = `I replaced \`${from}\` with \`${to}\` in ${path} (${count(edit.places, "place")}).`;
  return yield* apply(path, edit, tools, done);
}

/** Adds a line at the end of a file, which is created if it does not exist. */
export function* append(path: string, line: string, context: TaskContext): Task {
  const { tools } = context;
  const read = yield* call(tools.read(path));
  if (read.status === "declined") return failure(`read ${path}`, read);
  const { text, isWhole } = read.status === "done" ? fileView(read) : { text: "", isWhole: true };
  if (text.trim() === "") return yield* write(path, `${line}\n`, context);
  const done = `I added the line to ${path}.`;
  if (isWhole) return yield* apply(path, appendTo(text, line), tools, done);
  // The end of a file that is too long to be read is only reached by a command.
  const result = yield* call(tools.run(`printf '%s\\n' ${singleQuote(line)} >> ${singleQuote(path)}`));
  return result.status === "done" ? done : failure(`change ${path}`, result);
}

function* apply(path: string, edit: TextEdit, tools: Toolbox, done: string): Task {
  const result = yield* call(tools.edit(path, edit));
  return result.status === "done" ? done : failure(`change ${path}`, result);
}

/** Asks the user. Without a tool to ask with, the question is the answer. */
export function* ask(question: string, options: readonly string[], { tools }: TaskContext): Task {
  const choices = options.length === 0 ? {} : { options: options.map((label) => ({ label })) };
  const use = tools.ask([{ id: "answer", question, ...choices }]);
  if (use === undefined) return [question, options.join(", ")].join(" ").trim();
  const result = yield* call(use);
  return result.status === "done" ? `You answered: ${result.text}` : "No one answered, so I stop here.";
}

/** Shows the changes with git, one command after the other, then says what they touch. */
export function* review({ request, tools }: TaskContext): Task {
  const results = [];
  for (const command of reviewCommands(request.review)) {
    const result = yield* call(tools.run(command));
    results.push(result);
    if (result.status !== "done") break;
  }
  return describeReview(results);
}
