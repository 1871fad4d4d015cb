const EXPORTED = /\/\*\*(?<text>(?:(?!\*\/)[\s\S])*)\*\/\s*export (?:const|function|class) (?<name>\w+)/g;
const MEMBER = /^ {2}(?:\/\*\* (?<text>.*) \*\/|(?<name>\w+):.*)$/gm;

/** The doc comment of every exported constant, function and class of a source text that has one. */
export function exportedDocs(source: string): Map<string, string> {
  const found = [...source.matchAll(EXPORTED)];
  return new Map(found.map(({ groups }) => [groups?.name ?? "", sentence(groups?.text ?? "")]));
}

/** The doc comments of the members of a table; members without one share that of the member before. */
export function memberDocs(source: string): Map<string, string> {
  const docs = new Map<string, string>();
  let latest = "";
  for (const { groups } of source.matchAll(MEMBER)) {
    if (groups?.text !== undefined) latest = groups.text;
    if (groups?.name !== undefined) docs.set(groups.name, latest);
  }
  return docs;
}

function sentence(comment: string): string {
  return comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, "").trim())
    .filter((line) => line !== "")
    .join(" ");
}
