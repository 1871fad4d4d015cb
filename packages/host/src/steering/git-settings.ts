/** A setting of git, with its name as git writes it: section and key in lower case. */
export interface GitSetting {
  readonly name: string;
  readonly value: string;
}

const HEADER = /^\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const KEY = /^([A-Za-z][\w-]*)[ \t]*/;

/** All settings in the text of a git configuration file. A line that git would reject is skipped, because git stops there. */
export function parseGitConfig(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let section = "";
  let rest = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  while (rest !== "") {
    rest = rest.trimStart();
    const [header, title = "", subsection] = HEADER.exec(rest) ?? [];
    if (header !== undefined) {
      const inner = subsection?.replace(/\\(.)/g, "$1");
      section = inner === undefined ? title.toLowerCase() : `${title.toLowerCase()}.${inner}`;
      rest = rest.slice(header.length);
      continue;
    }
    const [start, key = ""] = KEY.exec(rest) ?? [];
    if (start === undefined || section === "") {
      rest = afterLine(rest);
      continue;
    }
    const name = `${section}.${key.toLowerCase()}`;
    const after = rest.slice(start.length);
    if (after.startsWith("=")) {
      const { value, length } = readValue(after.slice(1));
      settings.push({ name, value });
      rest = after.slice(1 + length);
    } else {
      settings.push({ name, value: "true" });
      rest = afterLine(after);
    }
  }
  return settings;
}

function afterLine(text: string): string {
  const end = text.indexOf("\n");
  return end < 0 ? "" : text.slice(end + 1);
}

/** A value without quotes, escapes and comment, which continues after a backslash at the end of a line. */
function readValue(text: string): { readonly value: string; readonly length: number } {
  let value = "";
  let isQuoted = false;
  let isComment = false;
  let at = 0;
  for (; at < text.length && text[at] !== "\n"; at += 1) {
    const character = text[at] ?? "";
    if (isComment) continue;
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\") {
      at += 1;
      if (text[at] !== "\n") value += text[at] ?? "";
    } else if (!isQuoted && /[#;]/.test(character)) isComment = true;
    else value += character;
  }
  return { value: value.trim(), length: at };
}

const BOOLEAN = /^(?:true|false|yes|no|on|off|[01]|)$/i;

/** Keys whose last word names a program, a script or a folder of programs, also in sections that git adds later. */
const RUNS =
  /(?:^alias\..+|^pager\..+|^core\.(?:editor|pager|attributesfile)|command|cmd|program|helper|driver|textconv|clean|smudge|process|hookspath|hook|editor|proxy|askpass|external|difffilter|vcs|uploadpack|receivepack|browser|tunnel|tool|path)$/;

/** Reports whether a setting makes git run a program, or read further settings. */
function steers({ name, value }: GitSetting): boolean {
  if (name === "core.fsmonitor") return !BOOLEAN.test(value);
  if (name === "protocol.allow" || /^protocol\..+\.allow$/.test(name)) return true;
  // Remotes of this form, and updates of submodules that begin with an exclamation mark, are commands.
  if (/^(?:remote|url|submodule)\./.test(name) && /^(?:!|ext::)/.test(`${value}`)) return true;
  if (/^url\.ext::/.test(name)) return true;
  return RUNS.test(name) && value !== "";
}

/** The settings in a git configuration that make git run programs or read further settings. */
export function steeringGitConfig(text: string): GitSetting[] {
  return parseGitConfig(text).filter(steers);
}

/** Values that make git do without a program, where an empty one would make it fail. */
const NEUTRAL: readonly (readonly [RegExp, string])[] = [
  [/^core\.fsmonitor$/, "false"],
  [/^core\.hookspath$/, "/dev/null"],
  [/^core\.sshcommand$/, "ssh"],
  [/^core\.(?:pager|editor)$|^pager\.|^sequence\.editor$|\.textconv$/, "cat"],
  [/^core\.gitproxy$/, "none"],
  [/^gpg\.program$/, "gpg"],
  [/^protocol\..*allow$/, "never"],
  [/^submodule\..*\.update$/, "none"],
  [/\.uploadpack$/, "git-upload-pack"],
  [/\.receivepack$/, "git-receive-pack"],
  // With an empty one, git would take one side of a file without a word. This merges as git does without a driver.
  [/^merge\..+\.driver$/, "git merge-file -q --marker-size=%L %A %O %B"],
];

/**
 * Variables that make git ignore these settings of a repository. A filter that is required would make git fail without its
 * program, so it is not required either. If the settings are not complete, git refuses to run.
 */
export function gitOverrides(settings: readonly GitSetting[], isComplete = true): Record<string, string> {
  const refusal = isComplete ? {} : { GIT_CONFIG_PARAMETERS: "not trusted" };
  return { ...variablesOf(neutralized(settings)), ...refusal };
}

/** A setting, and whether it is one of the user's own and not of the repository. */
export interface ScopedGitSetting extends GitSetting {
  readonly isOwn: boolean;
}

/**
 * Variables that make git ignore what the repository's settings steer, of all that are set, and use the user's own in their
 * place. Filters and merge drivers of the user can be dropped as well.
 */
export function overridesOf(
  settings: readonly ScopedGitSetting[],
  filters: "keep" | "drop" = "keep",
): Record<string, string> {
  const isDropped = ({ name }: GitSetting) => filters === "drop" && CONTENT_PROGRAM.test(name);
  const ignored = settings.filter((setting) => isDropped(setting) || (!setting.isOwn && steers(setting)));
  const names = new Set(ignored.map(({ name }) => name));
  // An empty helper removes all others as well.
  const hidesHelpers = ignored.some(({ name }) => HELPER.test(name));
  const isHidden = ({ name }: GitSetting) => names.has(name) || (hidesHelpers && HELPER.test(name));
  const own = settings.filter((setting) => setting.isOwn && !isDropped(setting) && isHidden(setting));
  return variablesOf([...neutralized(ignored), ...own]);
}

const FILTER = /^(filter\..+)\.(?:clean|smudge|process)$/;
const CONTENT_PROGRAM = /^(?:filter\..+\.(?:clean|smudge|process)|merge\..+\.driver)$/;
const HELPER = /^credential\.(?:.+\.)?helper$/;

/** Settings that undo these ones. */
function neutralized(settings: readonly GitSetting[]): GitSetting[] {
  const names = new Set(
    settings.map(({ name }) => name).filter((name) => !/^include(?:if\..*)?\.path$/.test(name)),
  );
  const values = new Map([...names].map((name) => [name, neutralValue(name)]));
  for (const name of names) {
    const filter = FILTER.exec(name)?.[1];
    if (filter !== undefined) values.set(`${filter}.required`, "false");
  }
  // Scanning a work tree without help costs little, and a nested repository may name a program, too.
  values.set("core.fsmonitor", "false");
  return [...values].map(([name, value]) => ({ name, value }));
}

function variablesOf(settings: readonly GitSetting[]): Record<string, string> {
  const pairs = settings.flatMap(({ name, value }, at) => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}

function neutralValue(name: string): string {
  return NEUTRAL.find(([pattern]) => pattern.test(name))?.[1] ?? "";
}
