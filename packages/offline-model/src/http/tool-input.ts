import { isRecord } from "@flint/protocol";

type Fields = Readonly<Record<string, unknown>>;

/** A file change in the patch format of Codex. An edit must consist of whole lines. */
export function patchFor(tool: string, { path, content, old_text, new_text }: Fields): string {
  const body =
    tool === "write_file"
      ? [`*** Add File: ${path}`, ...marked("+", content)]
      : [`*** Update File: ${path}`, "@@", ...marked("-", old_text), ...marked("+", new_text)];
  return ["*** Begin Patch", ...body, "*** End Patch", ""].join("\n");
}

function marked(mark: string, text: unknown): string[] {
  const lines = String(text).replace(/\n$/, "");
  return lines === "" ? [] : lines.split("\n").map((line) => `${mark}${line}`);
}

/** A program for Codex's code mode that makes one call and prints its result; `extra` goes with a command. */
export function programFor(tool: string, input: Fields, extra: Fields): string {
  if (tool !== "shell") return `await tools.apply_patch(${JSON.stringify(patchFor(tool, input))});\n`;
  const options = { cmd: input.command, yield_time_ms: 30_000, ...extra };
  const call = `await tools.exec_command(${JSON.stringify(options)})`;
  return `const done = ${call};\ntext(\`Exit code: \${done.exit_code}\\nOutput:\\n\${done.output}\`);\n`;
}

/** Questions with the fields that the schema of the request's tool has for them. */
export function questionsFor(questions: unknown, schema: unknown): readonly Fields[] {
  const fields = itemFields(schema);
  return objectsIn(questions).map(({ id, question, options }) => {
    const labels = objectsIn(options).map(({ label }) => label);
    const choices = (labels.length === 0 ? ["Yes", "No"] : labels).map((label) =>
      only({ label, description: label }, itemFields(fields.options)),
    );
    const header = String(question).replace(/\?$/, "").slice(0, 12);
    return only({ id, question, header, options: choices, multiSelect: false }, fields);
  });
}

function only(fields: Fields, known: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in known));
}

function itemFields(list: unknown): Fields {
  const item = isRecord(list) ? list.items : undefined;
  return isRecord(item) && isRecord(item.properties) ? item.properties : {};
}

function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
