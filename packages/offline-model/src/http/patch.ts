type Input = Readonly<Record<string, unknown>>;

/** A change of a file in the patch format of Codex. An edit has to be of whole lines. */
export function patchFor(tool: string, input: Input): string {
  const path = String(input.path);
  const body =
    tool === "write_file"
      ? [`*** Add File: ${path}`, ...marked("+", String(input.content))]
      : [
          `*** Update File: ${path}`,
          "@@",
          ...marked("-", String(input.old_text)),
          ...marked("+", String(input.new_text)),
        ];
  return ["*** Begin Patch", ...body, "*** End Patch", ""].join("\n");
}

function marked(mark: string, text: string): string[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `${mark}${line}`);
}
