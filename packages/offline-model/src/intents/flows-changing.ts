import { appendTo, fileText, fileView, replaceIn, type TextEdit } from "./file-text.ts";
import { type Flow, use } from "./flow.ts";
import { count, describeWrite, notDone } from "./reports.ts";
import { quotedWord } from "./shell-word.ts";
import type { Toolbox } from "./toolbox.ts";

/** Writes a whole file. */
export function* write(path: string, content: string, tools: Toolbox): Flow {
  return { text: describeWrite(path, yield* use(tools.write(path, content))) };
}

/** Puts one text in the place of another everywhere in a file. */
export function* replace(path: string, from: string, to: string, tools: Toolbox): Flow {
  const read = yield* use(tools.read(path));
  if (read.status !== "done") return { text: notDone(`read ${path}`, read) };
  const edit = replaceIn(fileText(read), from, to);
  if (edit === undefined) return { text: `I changed nothing: ${path} does not hold \`${from}\`.` };
  return yield* apply(
    path,
    edit,
    tools,
    `I replaced \`${from}\` with \`${to}\` in ${path} (${count(edit.places, "place")}).`,
  );
}

/** Adds a line at the end of a file, or makes the file if it is not there. */
export function* append(path: string, line: string, tools: Toolbox): Flow {
  const read = yield* use(tools.read(path));
  if (read.status === "declined") return { text: notDone(`read ${path}`, read) };
  const { text, isWhole } = read.status === "done" ? fileView(read) : { text: "", isWhole: true };
  if (text.trim() === "") return yield* write(path, `${line}\n`, tools);
  if (!isWhole) return yield* appendUnseen(path, line, tools);
  return yield* apply(path, appendTo(text, line), tools, `I added the line to ${path}.`);
}

/** The end of a file that is too long to be seen is only reached by a command. */
function* appendUnseen(path: string, line: string, tools: Toolbox): Flow {
  const result = yield* use(tools.run(`printf '%s\\n' ${quotedWord(line)} >> ${quotedWord(path)}`));
  return {
    text: result.status === "done" ? `I added the line to ${path}.` : notDone(`change ${path}`, result),
  };
}

function* apply(path: string, { oldText, newText, whole }: TextEdit, tools: Toolbox, done: string): Flow {
  const result = yield* use(tools.edit(path, oldText, newText, whole));
  return { text: result.status === "done" ? done : notDone(`change ${path}`, result) };
}
