/**
 * Evidence about its sandbox in the output of a failed command. None of it is proof before it is checked
 * against facts.
 */
export interface DenialEvidence {
  /** Paths, as they were printed, that could not be written because their file system is read-only. */
  readonly readOnlyPaths: readonly string[];
  /** Those of them that git passed over: what it checked out or merged is not in these files. */
  readonly skippedByGit: readonly string[];
  /** True if it looked up a name or dialled an address itself, where there is nothing to reach. */
  readonly triedDirectly: boolean;
  /** Ports of `localhost` at which nothing answered. */
  readonly localPorts: readonly number[];
  /** The reason that apparently only leaving the sandbox would help. */
  readonly hint?: string;
}

/** More output is not looked at: what made a program fail is at its end. */
const MOST_CHARACTERS = 65_536;
const MOST_PATHS = 20;
const MOST_PORTS = 5;

/** The last is what git prints where an empty folder holds the name of a protected file. */
const READ_ONLY =
  /read-only file system|\bEROFS\b|\berrno 30\b|^fatal: cannot rmdir .*device or resource busy/i;

/** Output of programs whose lookup or connection failed; `Connection refused` and timeouts are ordinary failures. */
const DIRECT =
  /could not resolve (?:host|proxy)|temporary failure in name resolution|\b(?:EAI_AGAIN|ENETUNREACH)\b|network is unreachable|errno -3\b|name or service not known|no address associated with hostname/i;

/** Output of programs if nothing listens at an address. */
const NOT_LISTENING =
  /connection refused|\bECONNREFUSED\b|(?:couldn't|could not|failed to) connect|\berrno 111\b/i;

/** `localhost:3000`, `localhost port 3000`, `[::1]:3000`, `"localhost" (127.0.0.1), port 5432`, `host='localhost', port=80`. */
const LOCAL_PORT =
  /(?:localhost|127\.0\.0\.1|\[?::1\]?)(?:["')|]*(?:[ |]*\(?(?:127\.0\.0\.1|::1)\)?[|]?)?)(?::|,?\s+port[ =]\s*)(\d{1,5})\b/gi;

/** Quoted as in a message, in the quotes of ASCII and of the C library's translations. */
const QUOTED = /'([^'\n]+)'|"([^"\n]+)"|‘([^’\n]+)’|`([^`'\n]+)['`]/g;

/** Right before the message, as shells print a file that they cannot open: `/bin/bash: line 1: ../x: Read-only …`. */
const BEFORE_MESSAGE =
  /(?:^|: )(?:cannot (?:create|open) |unable to create file )?([^:'"‘’`]*[^:'"‘’`\s]): read-only file system/i;

/** Git continues after it, and may end well. */
const SKIPPED_BY_GIT = /^error: unable to (?:unlink old|create file) /;

/** Bare, before a colon or at the end: `sh: 1: cannot create /etc/x: Read-only file system`, `npm error path /x`. */
const BARE = /(?:^|[\s:])(\/[^\s:'"‘’`]+)(?=:|\s|$)/g;

const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /cannot connect to the docker daemon|dial unix \S*docker\.sock/i,
    "The socket of Docker is not shown in the sandbox.",
  ],
  [/failed to connect to bus:/i, "The sockets of D-Bus are not shown in the sandbox."],
  [
    /unshare(?: failed)?: no space left on device|creating new namespace failed|no permissions to create a? ?new namespace/i,
    "A sandbox inside of the sandbox cannot be made.",
  ],
];

/**
 * Reads the output of a command that failed, or of a git that left files as they were. `EACCES`, `EPERM`, "forbidden",
 * timeouts, signals and refused connections, other than to a port of `localhost`, are not evidence: they are ordinary
 * failures as well. Pure.
 */
export function denialEvidence(output: string, exitCode: number): DenialEvidence {
  const text = output.slice(-MOST_CHARACTERS);
  const skippedByGit = readOnlyPathsIn(text, (line) => SKIPPED_BY_GIT.test(line));
  if (exitCode === 0)
    return { readOnlyPaths: skippedByGit, skippedByGit, triedDirectly: false, localPorts: [] };
  const hint = HINTS.find(([pattern]) => pattern.test(text))?.[1];
  return {
    readOnlyPaths: readOnlyPathsIn(text),
    skippedByGit,
    triedDirectly: DIRECT.test(text),
    localPorts: localPortsIn(text),
    ...(hint === undefined ? {} : { hint }),
  };
}

function localPortsIn(text: string): number[] {
  const lines = text.split("\n").filter((line) => NOT_LISTENING.test(line));
  const ports = lines.flatMap((line) => [...line.matchAll(LOCAL_PORT)].map((match) => Number(match[1])));
  return [...new Set(ports)].filter((port) => port > 0 && port < 65_536).slice(0, MOST_PORTS);
}

function readOnlyPathsIn(text: string, isIncluded: (line: string) => boolean = () => true): string[] {
  const lines = text.split("\n").filter(isIncluded);
  const isNpm = lines.some((line) => /^npm (?:error|ERR!) code EROFS/.test(line));
  const relevant = lines.filter(
    (line) => READ_ONLY.test(line) || (isNpm && /^npm (?:error|ERR!) path \//.test(line)),
  );
  return [...new Set(relevant.flatMap(pathsIn))].slice(0, MOST_PATHS);
}

/** Quoted names if there are any, or what stands right before the message: both may be relative. Else absolute paths. */
function pathsIn(line: string): string[] {
  const quoted = [...line.matchAll(QUOTED)].flatMap((match) => match.slice(1).find((name) => name) ?? []);
  if (quoted.length > 0) return quoted;
  const [, named] = BEFORE_MESSAGE.exec(line) ?? [];
  if (named !== undefined && /^(?:\S+|.*\/.*)$/.test(named)) return [named];
  return [...line.matchAll(BARE)].flatMap((match) => match[1] ?? []);
}
