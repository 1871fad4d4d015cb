/** From now on everything that this process prints to stderr goes through here; libraries print there too. */
export function redactErrors(redact: (text: string) => string): void {
  const { stderr } = process;
  const write = stderr.write.bind(stderr);
  function redacted(chunk: Uint8Array | string, ...rest: unknown[]): boolean {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    const shown = redact(text);
    // The overloads of `write` cannot be told apart here; what follows the text is passed on as it came.
    return Reflect.apply(write, stderr, [shown === text ? chunk : shown, ...rest]);
  }
  stderr.write = redacted;
}
