import { LABEL } from "@flint/protocol";
import { UsageError } from "../../command-line/command.ts";

/** A label of a task or a worker, as it was given. */
export function labelOf(text: string): string {
  if (LABEL.test(text)) return text;
  throw new UsageError(
    `--label ${text}: a label has letters, digits and . : = / - _, such as gpu or zone=eu.`,
  );
}
