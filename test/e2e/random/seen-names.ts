/** Only the latest names are spoken of: many older things are gone. */
const MOST_VALUES = 6;

/** The names of things that came over a wire, by the field that they stood in, so that requests can be about something. */
export class SeenNames {
  readonly #folder: string;
  readonly #byField = new Map<string, string[]>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the seen values that may stand in a field, if any may. */
  named(field: string): readonly string[] | undefined {
    if (/cwd|path|root|director/i.test(field)) return [this.#folder];
    return this.#byField.get(field);
  }

  /** Looks through a message. The `id` of a thing is what other messages call `thingId`. */
  take(value: unknown, within = ""): void {
    for (const [name, field] of Object.entries(Object(value))) {
      if (typeof field === "object") this.take(field, /^\d+$/.test(name) ? within : name);
      else if (typeof field === "string" && field.length < 100) this.#keep(name, within, field);
    }
  }

  #keep(name: string, within: string, value: string): void {
    const field = name === "id" && within !== "" ? `${within}Id` : name;
    if (!field.endsWith("Id")) return;
    const known = this.#byField.get(field) ?? [];
    if (!known.includes(value)) this.#byField.set(field, [...known, value].slice(-MOST_VALUES));
    // Requests about one turn name it in several ways.
    if (field === "turnId") for (const other of OF_TURNS) this.#byField.set(other, [value]);
  }
}

const OF_TURNS = ["expectedTurnId", "beforeTurnId", "lastTurnId"];
