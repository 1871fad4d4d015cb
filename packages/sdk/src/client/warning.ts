/** A problem that was ignored safely. */
export type Warning = {
  readonly kind:
    | "malformedLine"
    | "malformedNotification"
    | "malformedRequest"
    | "unknownRequest"
    | "handlerFailed"
    | "damagedFile";
  readonly message: string;
};

/** Receives warnings. */
export type OnWarning = (warning: Warning) => void;

type Issues = {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
};

/** What is wrong with a message, naming the first few fields. */
export function problemOf(error: Issues): string {
  const named = error.issues.slice(0, 3).map(({ path, message }) => {
    const field = path.map(String).join(".");
    return field === "" ? message : `${field}: ${message}`;
  });
  return named.join("; ");
}
