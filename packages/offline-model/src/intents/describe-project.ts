import { count, listed } from "./reports.ts";

/** What was seen of a project. */
export interface ProjectFacts {
  readonly names: readonly string[];
  readonly readme?: string;
  readonly manifest?: { readonly name: string; readonly text: string };
}

const LANGUAGES: Readonly<Record<string, string>> = {
  "package.json": "a JavaScript or TypeScript package",
  "pyproject.toml": "a Python package",
  "Cargo.toml": "a Rust crate",
  "go.mod": "a Go module",
  "composer.json": "a PHP package",
};

/** A project in a few sentences, each taken from what is written in it. */
export function describeProject({ names, readme, manifest }: ProjectFacts): string {
  const folders = names.filter((name) => name.endsWith("/") && !name.startsWith("."));
  const manifestFacts = manifest === undefined ? [] : describeManifest(manifest.name, manifest.text);
  const said = readme === undefined ? [] : describeReadme(readme);
  if (said.length + manifestFacts.length === 0) {
    return `Nothing here says what the project is about: there is no README and no manifest that I know among ${count(names.length, "name")}.`;
  }
  return [
    ...said,
    ...manifestFacts,
    ...(folders.length === 0 ? [] : [`Its folders: ${listed(folders)}.`]),
    "I follow fixed rules, so this is what the files say, not a judgement of the code.",
  ].join("\n\n");
}

function describeReadme(text: string): string[] {
  const title = /^#\s+(.+)$/m.exec(text)?.[1]?.trim();
  const paragraph = text
    .split(/\n\s*\n/)
    .map((part) => part.replaceAll(/\s+/g, " ").trim())
    .find((part) => /^[\w"'*_`(]/.test(part) && part.length > 20);
  return [
    ...(title === undefined ? [] : [`The README calls it "${title}".`]),
    ...(paragraph === undefined ? [] : [`It says: ${paragraph.slice(0, 500)}`]),
  ];
}

function describeManifest(name: string, text: string): string[] {
  const kind = LANGUAGES[name] ?? "a project";
  const facts = name.endsWith(".json") ? jsonFacts(text) : plainFacts(text);
  const called = facts.name === undefined ? "" : ` named ${facts.name}`;
  const scripts = facts.scripts.length === 0 ? [] : [`Its scripts: ${listed(facts.scripts)}.`];
  const about = facts.description === undefined ? "" : ` ${name} describes it: ${facts.description}`;
  return [`It is ${kind}${called}.${about}`, ...scripts];
}

interface ManifestFacts {
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly scripts: readonly string[];
}

function jsonFacts(text: string): ManifestFacts {
  const manifest = parsedObject(text);
  const scripts = manifest.scripts;
  return {
    name: typeof manifest.name === "string" ? manifest.name : undefined,
    description: typeof manifest.description === "string" ? manifest.description : undefined,
    scripts: typeof scripts === "object" && scripts !== null ? Object.keys(scripts) : [],
  };
}

/** A JSON object, or an empty one for what is none. */
export function parsedObject(text: string): Readonly<Record<string, unknown>> {
  // Expected: a file that is cut off or no JSON; then nothing is known.
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function plainFacts(text: string): ManifestFacts {
  const named = /^(?:name\s*=\s*"([^"]+)"|module\s+(\S+))/m.exec(text);
  return {
    name: named?.[1] ?? named?.[2],
    description: /^description\s*=\s*"([^"]+)"/m.exec(text)?.[1],
    scripts: [],
  };
}
