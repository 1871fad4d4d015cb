/** The document a requirement comes from. */
export type Source = "S0" | "S1" | "S2" | "S3" | "S4";

/** A stable name for one requirement; tests cite it in square brackets. */
export type RequirementId = `${Source}-${number}`;

/** The piece of work that will make a planned requirement true. */
export type Subject =
  | "acp front end"
  | "claude driver"
  | "codex front end"
  | "codex driver"
  | "native agent"
  | "task layer"
  | "terminal UI";

/** One thing that must hold, and whether it holds today. */
export type Requirement = {
  id: string;
  source: Source;
  behaviour: string;
  status: "done" | "planned";
  subject?: string;
};

/** The title of each source and the number of requirements it states. */
export const SOURCES: Readonly<Record<Source, { title: string; count: number }>> = {
  S0: { title: "The Flint protocol", count: 104 },
  S1: { title: "The harness protocol", count: 39 },
  S2: { title: "Codex app-server and the task layer on top of it", count: 88 },
  S3: { title: "ACP, Claude stream-json and the Codex bridge", count: 76 },
  S4: { title: "Driving Claude and Codex through one interface", count: 51 },
};

/** A requirement that holds; at least one test must cite it. */
export function done(id: RequirementId, behaviour: string): Requirement {
  return { id, source: sourceOf(id), behaviour, status: "done" };
}

/** A requirement that does not hold yet; `subject` names the work it waits for. */
export function planned(id: RequirementId, subject: Subject, behaviour: string): Requirement {
  return { id, source: sourceOf(id), behaviour, status: "planned", subject };
}

function sourceOf(id: RequirementId): Source {
  // The template type guarantees that an id begins with its source and a dash; split() forgets it.
  return id.slice(0, id.indexOf("-")) as Source;
}
