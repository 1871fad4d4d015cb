const UNRELEASED = "## Unreleased\n";

/** The changelog with what is unreleased under the new version. Throws if nothing is unreleased. */
export function releasedChangelog(text, version, date) {
  const start = text.indexOf(UNRELEASED);
  const next = text.indexOf("\n## ", start + 1);
  const notes = text.slice(start + UNRELEASED.length, next === -1 ? undefined : next);
  if (start === -1 || notes.trim() === "")
    throw new Error('CHANGELOG.md has nothing under "## Unreleased": there is nothing to release.');
  return text.replace(UNRELEASED, `${UNRELEASED}\n## ${version} - ${date}\n`);
}

/** A package.json at the new version, and with it what it needs of the other packages of the workspace. */
export function releasedManifest(text, version) {
  const manifest = JSON.parse(text);
  manifest.version = version;
  for (const kind of ["dependencies", "devDependencies"]) {
    for (const name of Object.keys(manifest[kind] ?? {}))
      if (name.startsWith("@flint/")) manifest[kind][name] = version;
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
