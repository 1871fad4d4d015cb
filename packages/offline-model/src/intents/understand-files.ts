import { contentFor } from "../script/templates.ts";
import { LONG_REQUEST, pathOf, unquoted, type Work } from "./intent.ts";
import { Phrase } from "./phrase.ts";
import { quotedWord, shellWord } from "./shell-word.ts";

const QUOTED = "(`[^`]+`|\"[^\"]+\"|'[^']+')";
/** Something that can only be a file: it has a folder or an ending, or it is in quotes. */
const FILE = String.raw`(${"`[^`]+`"}|"[^"]+"|'[^']+'|[\w@~.-]*[./][\w@./-]*\w|\.\w[\w.-]*|Makefile|Dockerfile|LICENSE)`;

const LIST = new Phrase(
  /\bwhat(?:'s|’s| is| are)?(?: there)? in (?:this|the|my) (?:folder|directory|project|workspace|repo(?:sitory)?)\b|\blist (?:all )?(?:the |my )?files\b|\b(?:show|which) (?:me )?(?:the |my )?files\b(?! (?:use|mention|contain|import|refer))/i,
);
const LIST_IN = new Phrase(
  /\b(?:list|show(?: me)?|what(?:'s|’s| is| are)?(?: there)? in|which files are in)(?: (?:all )?(?:the )?files)?(?: (?:in|of|under))?(?: the)? (?:(?:folder|directory) ([`"']?[\w@./-]+[`"']?)|([`"']?[\w@./-]+[`"']?) (?:folder|directory)\b|([\w@.-]+\/(?:[\w@./-]*)))/i,
);
const LIST_FILES_IN = new Phrase(
  /\blist (?:all )?(?:the )?files (?:in|of|under) ([`"']?[\w@./-]+[`"']?)[.?!]*$/i,
);
const PRONOUN = /^(?:this|the|my|our|it|here|current)$/i;

const WRITE = /\bwrite (`|"|')([\s\S]+?)\1 (?:in)?to (?:the )?(?:file )?[`"']?([^\s`"']+)[`"']?/i;
/** The same at the beginning, for texts that are too long to be looked through. */
const WRITE_FIRST = new RegExp(`^(?:please )?${WRITE.source}`, "i");
const CHANGE = new Phrase(/\bchange (?:the )?file [`"']?([^\s`"']+)[`"']? to ([\s\S]+)$/i);
const CREATE_WITH = new Phrase(/\bcreate (?:a |the )?file [`"']?([^\s`"']+)[`"']? with ([\s\S]+)$/i);

const CREATE = new Phrase(
  new RegExp(
    String.raw`\b(?:create|make|write|add|generate) (?:me )?(?:an? |the )?(?:new )?(empty )?(?:\w+ )?(?:file |script |program |document |page )?(?:named |called )?${FILE}(?:[ ,]+([\s\S]+))?$`,
    "i",
  ),
);
const CREATE_FOLDER = new Phrase(
  /\b(?:create|make) (?:an? |the )?(?:new )?(?:folder|directory) (?:named |called )?([`"']?[\w@./-]+[`"']?)[.?!]*$/i,
);
const REPLACE = new Phrase(
  new RegExp(
    String.raw`\b(?:replace|change|rename|turn) ${QUOTED.slice(0, -1)}|\S+) (?:with|to|into|by) ${QUOTED.slice(0, -1)}|\S+) in (?:the )?(?:file )?${FILE}`,
    "i",
  ),
);
const IN_REPLACE = new Phrase(
  new RegExp(
    String.raw`\bin (?:the )?(?:file )?${FILE},? (?:please )?(?:replace|change|rename) ${QUOTED.slice(0, -1)}|\S+) (?:with|to|into|by) ${QUOTED.slice(0, -1)}|.+?)[.?!]*$`,
    "i",
  ),
);
const APPEND = new Phrase(
  new RegExp(
    String.raw`\b(?:add|append) (?:(?:the|a|this) )?(?:new )?(?:line |text )?:?\s*${QUOTED.slice(0, -1)}|.+?) (?:to|at the end of|in) (?:the )?(?:end of )?(?:the )?(?:file )?${FILE}[.?!]*$`,
    "i",
  ),
);
const RENAME = new Phrase(
  new RegExp(String.raw`\b(?:rename|move) (?:the )?(?:file |folder )?${FILE} (?:to|into|as) ([^\s]+)`, "i"),
);
const REMOVE = new Phrase(new RegExp(String.raw`\b(?:delete|remove) (?:the )?(?:file )?${FILE}[.?!]*$`, "i"));
const EXPLAIN = new Phrase(
  new RegExp(
    String.raw`\b(?:explain|describe|summari[sz]e|read|open|show(?: me)?|cat|look at|what(?:'s|’s| is) in|what does) (?:to me )?(?:what )?(?:the )?(?:file |is in |content of |contents of )*${FILE}(?: (?:do|does|is|to me|about|for|mean|file))*[.?!]*$`,
    "i",
  ),
);

/** A look into a folder. */
export function list(text: string): Work | undefined {
  const [, first, second, third] = LIST_IN.exec(text) ?? LIST_FILES_IN.exec(text) ?? [];
  const path = first ?? second ?? third;
  if (path !== undefined && !PRONOUN.test(path)) return { kind: "list", path: pathOf(path) };
  return LIST.test(text) ? { kind: "list" } : undefined;
}

/** A file with the content that was given. */
export function write(text: string): Work | undefined {
  const [, , quoted, target] = (text.length > LONG_REQUEST ? WRITE_FIRST : WRITE).exec(text) ?? [];
  if (quoted !== undefined && target !== undefined) return writing(target, quoted);
  const [, path, content] = CHANGE.exec(text) ?? CREATE_WITH.exec(text) ?? [];
  return path === undefined || content === undefined ? undefined : writing(path, unquoted(content));
}

/** A file or folder that is described rather than given. */
export function create(text: string): Work | undefined {
  const [, folder] = CREATE_FOLDER.exec(text) ?? [];
  if (folder !== undefined) return { kind: "run", command: `mkdir -p -- ${shellWord(pathOf(folder))}` };
  const [, empty, path, wish = ""] = CREATE.exec(text) ?? [];
  if (path === undefined) return undefined;
  const target = pathOf(path);
  return { kind: "write", path: target, content: empty === undefined ? contentFor(target, wish) : "" };
}

/** Another text in the place of one in a file. */
export function replace(text: string): Work | undefined {
  const [, from, to, path] = REPLACE.exec(text) ?? [];
  if (from !== undefined && to !== undefined && path !== undefined) return replacing(path, from, to);
  const [, where, old, next] = IN_REPLACE.exec(text) ?? [];
  return where === undefined || old === undefined || next === undefined
    ? undefined
    : replacing(where, old, next);
}

/** One more line at the end of a file. */
export function append(text: string): Work | undefined {
  const [, line, path] = APPEND.exec(text) ?? [];
  if (line === undefined || path === undefined) return undefined;
  return { kind: "append", path: pathOf(path), line: unquoted(line) };
}

/** Another name for a file; nothing that is there is overwritten. */
export function rename(text: string): Work | undefined {
  const [, from, to] = RENAME.exec(text) ?? [];
  if (from === undefined || to === undefined) return undefined;
  return { kind: "run", command: `mv -n -- ${shellWord(pathOf(from))} ${shellWord(pathOf(to))}` };
}

/** A file that should go. */
export function remove(text: string): Work | undefined {
  const [, path] = REMOVE.exec(text) ?? [];
  return path === undefined ? undefined : { kind: "run", command: `rm -- ${quotedWord(pathOf(path))}` };
}

/** What a file is about. */
export function explain(text: string): Work | undefined {
  const [, path] = EXPLAIN.exec(text) ?? [];
  return path === undefined ? undefined : { kind: "explain", path: pathOf(path) };
}

/** A text file ends with a line end. */
function writing(path: string, content: string): Work {
  return { kind: "write", path: pathOf(path), content: content.endsWith("\n") ? content : `${content}\n` };
}

function replacing(path: string, from: string, to: string): Work {
  return { kind: "replace", path: pathOf(path), from: unquoted(from), to: unquoted(to) };
}
