/** How long a title is where nobody says how long it may be. */
const USUAL_LENGTH = 36;

type Schema = Readonly<Record<string, unknown>>;

/** Whether an answer of this shape is a title and nothing else. */
export function wantsTitle(schema: unknown): schema is Schema {
  const properties = Object.entries(propertiesOf(schema));
  const [name, property] = properties[0] ?? [];
  return properties.length === 1 && name === "title" && Object(property).type === "string";
}

/** A title made from the words of a prompt, as JSON of the wanted shape. */
export function titleAnswer(prompt: string, schema: unknown): string {
  const { maxLength } = Object(propertiesOf(schema).title);
  const room = typeof maxLength === "number" && maxLength > 0 ? maxLength : USUAL_LENGTH;
  return JSON.stringify({ title: titleOf(prompt, Math.min(room, USUAL_LENGTH)) });
}

/** Clients put their instructions first and what the user said last, after a line that ends with a colon. */
function titleOf(prompt: string, room: number): string {
  const said = /\n\n[^\n]*(?:prompt|messages?):\n([\s\S]*)$/i.exec(prompt)?.[1] ?? prompt;
  const words = said
    .replace(/[`*_#"<>{}[\]|]+/g, " ")
    .trim()
    .split(/\s+/);
  let title = "";
  for (const word of words) {
    const longer = title === "" ? word : `${title} ${word}`;
    if (longer.length > room) break;
    title = longer;
  }
  const cut = title === "" ? [...said.trim()].slice(0, room).join("") : title;
  const plain = cut.replace(/[\s.,;:!?]+$/, "") || "Untitled";
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

function propertiesOf(schema: unknown): Schema {
  return Object(Object(schema).properties);
}
