/** Something from outside is not what it has to be. The message names the place. */
export class GivenError extends Error {
  override readonly name = "GivenError";
}

/** A JSON value from outside, with the place it stands at, so that every complaint can name it. */
export class Given {
  readonly value: unknown;
  readonly place: string;

  constructor(value: unknown, place: string) {
    this.value = value;
    this.place = place;
  }

  get isMissing(): boolean {
    return this.value === undefined || this.value === null;
  }

  get isObject(): boolean {
    return typeof this.value === "object" && this.value !== null && !Array.isArray(this.value);
  }

  get isList(): boolean {
    return Array.isArray(this.value);
  }

  /** A field of an object; one that is not there is missing. */
  at(name: string): Given {
    const place = this.place === "" ? name : `${this.place}.${name}`;
    const fields = this.fields();
    return new Given(Object.hasOwn(fields, name) ? fields[name] : undefined, place);
  }

  fields(): Readonly<Record<string, unknown>> {
    if (!this.isObject) this.complain("an object");
    return { ...Object(this.value) };
  }

  items(): Given[] {
    if (!Array.isArray(this.value)) return this.complain("a list");
    return this.value.map((item, index) => new Given(item, `${this.place}[${index}]`));
  }

  /** None if it is missing. */
  optionalItems(): Given[] {
    return this.isMissing ? [] : this.items();
  }

  text(): string {
    return typeof this.value === "string" ? this.value : this.complain("a text");
  }

  optionalText(): string | undefined {
    return this.isMissing ? undefined : this.text();
  }

  /** A number from `least` on. */
  number(least: number): number {
    const { value } = this;
    if (typeof value !== "number" || !Number.isFinite(value) || value < least)
      return this.complain(`a number from ${least} on`);
    return value;
  }

  optionalNumber(least: number): number | undefined {
    return this.isMissing ? undefined : this.number(least);
  }

  truth(): boolean {
    return typeof this.value === "boolean" ? this.value : this.complain("true or false");
  }

  /** One of these words. */
  oneOf<Word extends string>(words: readonly Word[]): Word {
    return words.find((word) => word === this.value) ?? this.complain(words.join(" or "));
  }

  complain(wanted: string): never {
    const place = this.place === "" ? "The whole" : this.place;
    if (this.isMissing) throw new GivenError(`${place} is missing: it has to be ${wanted}.`);
    throw new GivenError(`${place} has to be ${wanted}, not ${shown(this.value)}.`);
  }
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
