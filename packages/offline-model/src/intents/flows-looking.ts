import { describeFile } from "./describe-file.ts";
import { describeProject, type ProjectFacts } from "./describe-project.ts";
import { fileText } from "./file-text.ts";
import { type Flow, use } from "./flow.ts";
import { describeFound, describeListing, describeMatches, namesIn, notDone } from "./reports.ts";
import type { Toolbox } from "./toolbox.ts";

const README = /^readme(\.(md|markdown|txt|rst|adoc))?$/i;
const MANIFESTS = ["package.json", "pyproject.toml", "Cargo.toml", "go.mod", "composer.json"];

/** What is in a folder. */
export function* look(path: string | undefined, tools: Toolbox): Flow {
  return { text: describeListing(yield* use(tools.show(path)), path) };
}

/** Which files have a name. */
export function* find(name: string, tools: Toolbox): Flow {
  return { text: describeFound(name, yield* use(tools.find(name))) };
}

/** Which lines hold a text. */
export function* search(text: string, tools: Toolbox): Flow {
  return { text: describeMatches(text, yield* use(tools.search(text))) };
}

/** What a file is about. */
export function* explain(path: string, tools: Toolbox): Flow {
  const result = yield* use(tools.read(path));
  if (result.status !== "done") return { text: notDone(`read ${path}`, result) };
  return { text: describeFile(path, fileText(result)) };
}

/** What a project is about, from what it says itself. */
export function* overview(tools: Toolbox): Flow {
  const listing = yield* use(tools.list(), "I look at what the project says about itself.");
  if (listing.status !== "done") return { text: notDone("look into the folder", listing) };
  const names = namesIn(listing.text);
  const facts: { -readonly [Name in keyof ProjectFacts]: ProjectFacts[Name] } = { names };
  const readme = names.find((name) => README.test(name));
  if (readme !== undefined) {
    const result = yield* use(tools.read(readme));
    if (result.status === "done") facts.readme = fileText(result);
  }
  const manifest = MANIFESTS.find((name) => names.includes(name));
  if (manifest !== undefined) {
    const result = yield* use(tools.read(manifest));
    if (result.status === "done") facts.manifest = { name: manifest, text: fileText(result) };
  }
  return { text: describeProject(facts) };
}
