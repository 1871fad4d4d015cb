/** A JSON value from outside is not what it must be. The message names the field. */
export class JsonError extends Error {
  override readonly name = "JsonError";
}

/** A JSON value from outside with its path, so that every error can name the field. */
export class JsonReader {
  readonly value: unknown;
  readonly path: string;

  constructor(value: unknown, path = "") {
    this.value = value;
    this.path = path;
  }

  get isMissing(): boolean {
    return this.value === undefined || this.value === null;
  }

  get isObject(): boolean {
    return typeof this.value === "object" && this.value !== null && !Array.isArray(this.value);
  }

  get isArray(): boolean {
    return Array.isArray(this.value);
  }

  /** A field of this object; its value is missing if the object does not have it. */
  field(name: string): JsonReader {
    const fields = this.object();
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return new JsonReader(value, this.path === "" ? name : `${this.path}.${name}`);
  }

  object(): Readonly<Record<string, unknown>> {
    if (!this.isObject) this.fail("an object");
    return { ...Object(this.value) };
  }

  array(): JsonReader[] {
    if (!Array.isArray(this.value)) return this.fail("an array");
    return this.value.map((item, index) => new JsonReader(item, `${this.path}[${index}]`));
  }

  /** An empty array if the value is missing. */
  optionalArray(): JsonReader[] {
    return this.isMissing ? [] : this.array();
  }

  string(): string {
    return typeof this.value === "string" ? this.value : this.fail("a string");
  }

  optionalString(): string | undefined {
    return this.isMissing ? undefined : this.string();
  }

  oneOf<Value extends string>(values: readonly Value[]): Value {
    return values.find((value) => value === this.value) ?? this.fail(values.join(" or "));
  }

  fail(expected: string): never {
    const subject = this.path === "" ? "The value" : this.path;
    if (this.isMissing) throw new JsonError(`${subject} is missing: it must be ${expected}.`);
    const shown = JSON.stringify(this.value).slice(0, 60);
    throw new JsonError(`${subject} must be ${expected}, not ${shown}.`);
  }
}
