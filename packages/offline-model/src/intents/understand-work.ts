import { type Chore, pathOf, unquoted, type Work } from "./intent.ts";
import { Phrase } from "./phrase.ts";

const POLITE = "^(?:(?:please|can you|could you|would you|now|ok|okay|then)[, ]+)*";
const THE = "(?:(?:all|the|my|our|its|this|of|whole|unit) )*";
const ENDING = String.raw`(?:[,]? (?:please|again|now|here|for me|of (?:this|the) \w+|in (?:this|the) \w+))*[.?!]*$`;

const CHORES: readonly (readonly [Chore, Phrase])[] = [
  [
    "test",
    new Phrase(
      new RegExp(
        `${POLITE}(?:(?:run|execute|start|check|try) ${THE}(?:tests?(?:[- ]suite)?|specs)|do ${THE}tests? pass|are ${THE}tests? (?:green|passing|ok)|test (?:this|the|my|our) (?:project|code|repo(?:sitory)?|package))${ENDING}`,
        "i",
      ),
    ),
  ],
  [
    "build",
    new Phrase(
      new RegExp(
        `${POLITE}(?:(?:build|compile) (?:it|${THE}(?:project|code|app|package|repo(?:sitory)?))|run ${THE}build|does it (?:build|compile))${ENDING}`,
        "i",
      ),
    ),
  ],
  [
    "lint",
    new Phrase(
      new RegExp(
        `${POLITE}(?:lint (?:it|${THE}(?:project|code|files|repo(?:sitory)?))|run ${THE}(?:linter|lint|linting))${ENDING}`,
        "i",
      ),
    ),
  ],
  [
    "typecheck",
    new Phrase(
      new RegExp(
        `${POLITE}(?:(?:run ${THE})?type[- ]?check(?:er|s)?(?: (?:it|${THE}(?:project|code)))?|check ${THE}types)${ENDING}`,
        "i",
      ),
    ),
  ],
];

const FENCED = new Phrase(/\brun\b[^`]{0,200}```\w*\n([\s\S]+?)\n?```/i);
const QUOTED_RUN = new Phrase(/\brun\b[^`]{0,200}`([^`]+)`/i);
const ONLY_QUOTED = /^`([^`\n]+)`$/;
const PLAIN_RUN = new Phrase(/^(?:please )?run (?:the )?(?:command:? )?([\s\S]+)$/i);

/** Questions that one harmless command answers. */
const KNOWN: readonly (readonly [Phrase, string])[] = [
  [
    new Phrase(/\bwhat(?:'s|’s| has| have| did i| is)? changed?\b|\bgit status\b|\buncommitted changes\b/i),
    "git status --short",
  ],
  [
    new Phrase(/\b(?:recent|last|latest) commits?\b|\bgit (?:log|history)\b/i),
    "git --no-pager log --oneline -10",
  ],
  [new Phrase(/\b(?:which|what) branch\b|\bcurrent branch\b/i), "git branch --show-current"],
  [new Phrase(/\bwhat (?:time|day) is it\b|\bwhat(?:'s|’s| is) the (?:time|date)\b/i), "date"],
  [new Phrase(/\bwhere am i\b|\b(?:which|what) (?:folder|directory) (?:am i|is this)\b/i), "pwd"],
];

const OVERVIEW = new Phrase(
  /\bwhat (?:does|is) (?:this|the) (?:project|repo(?:sitory)?|code ?base|package|app)(?: (?:do|about|for))?\s*[?.!]*$|\b(?:explain|describe|summari[sz]e) (?:this|the) (?:project|repo(?:sitory)?|code ?base|package|app|code)\b/i,
);

const FIND_NAMED = new Phrase(
  /\b(?:find|locate|look for|search for) (?:all )?(?:the |any )?files?(?: that (?:are|is))? (?:named|called|like|matching) ([^\s]+)/i,
);
const FIND_THE_FILE = new Phrase(
  /\b(?:find|locate|where is) (?:the )?file ([^\s]+)|(?:\bwhere is|^(?:please )?find) ([^\s?]+\.[a-z0-9]{1,5})\s*[?.!]*$/i,
);
const FIND_KIND = new Phrase(
  /\b(?:find|list|show)(?: me)? (?:all )?(?:the |my )?([*\w.-]*\*[*\w.-]*|\.\w{1,6}|\w+\.\w{1,6}) files?\b/i,
);

const SEARCH_USED = new Phrase(
  /\bwhere (?:is|are|do we|does it|do you) (.+?) (?:used|defined|called|declared|mentioned|implemented|set|imported)\b/i,
);
const SEARCH_USES = new Phrase(
  /\b(?:uses?|usages?|occurrences|mentions|callers|references) (?:of|to) (.+?)[.?!]*$/i,
);
const SEARCH_WHICH = new Phrase(
  /\b(?:which|what) files? (?:use|uses|mention|mentions|contain|contains|import|imports|reference|references) (.+?)[.?!]*$/i,
);
const SEARCH_FOR = new Phrase(
  /^(?:please )?(?:(?:search|grep)(?: (?:the |this )?(?:code|project|files|repo(?:sitory)?))?(?: for)?|look for) (.+?)(?: in (?:the|this|all) (?:code|project|files|folder|repo(?:sitory)?|code ?base))?[.?!]*$/i,
);
const SEARCH_FIND = new Phrase(
  /^(?:please )?find (.+?) in (?:the|this|all|my) (?:code|project|files|folder|repo(?:sitory)?|code ?base)[.?!]*$/i,
);
const FIND_PLAIN = new Phrase(/^(?:please )?find (`[^`]+`|"[^"]+"|'[^']+'|[^\s]+)[.?!]*$/i);

/** Running the tests and the like, for which the project has to be looked at first. */
export function chore(text: string): Work | undefined {
  const found = CHORES.find(([, words]) => words.test(text));
  return found === undefined ? undefined : { kind: "chore", chore: found[0] };
}

/** A command in the user's own words. */
export function run(text: string): Work | undefined {
  const [, command] =
    FENCED.exec(text) ?? QUOTED_RUN.exec(text) ?? ONLY_QUOTED.exec(text) ?? PLAIN_RUN.exec(text) ?? [];
  return command === undefined ? undefined : { kind: "run", command: unquoted(command) };
}

/** A question that one command answers. */
export function knownCommand(text: string): Work | undefined {
  const found = KNOWN.find(([words]) => words.test(text));
  return found === undefined ? undefined : { kind: "run", command: found[1] };
}

/** What the project is about. */
export function overview(text: string): Work | undefined {
  return OVERVIEW.test(text) ? { kind: "overview" } : undefined;
}

/** Files by their name. */
export function find(text: string): Work | undefined {
  const [, named] = FIND_NAMED.exec(text) ?? [];
  const [, theFile, suffixed] = FIND_THE_FILE.exec(text) ?? [];
  const [, kind] = FIND_KIND.exec(text) ?? [];
  const name = named ?? theFile ?? suffixed ?? (kind?.startsWith(".") ? `*${kind}` : kind);
  return name === undefined ? undefined : { kind: "find", name: pathOf(name) };
}

/** A text in the files. */
export function search(text: string): Work | undefined {
  const rules = [SEARCH_USED, SEARCH_USES, SEARCH_WHICH, SEARCH_FIND, SEARCH_FOR, FIND_PLAIN];
  for (const rule of rules) {
    const [, wanted] = rule.exec(text) ?? [];
    if (wanted !== undefined)
      return {
        kind: "search",
        text: unquoted(wanted.replace(/^(?:the )?(?:text|word|function|class|symbol) /i, "")),
      };
  }
  return undefined;
}
