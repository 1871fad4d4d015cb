/** A safety case that must be provoked by a test or by the torture program. */
export type SafetyCase = {
  id: `P${number}`;
  behaviour: string;
  status: "done" | "planned";
  subject?: string;
};

function done(id: SafetyCase["id"], behaviour: string): SafetyCase {
  return { id, behaviour, status: "done" };
}

/** Properties that must hold under malformed input, load, crashes and hostile neighbours. */
export const SAFETY_CASES: readonly SafetyCase[] = [
  // Input
  done("P01", "Each kind of malformed line gets exactly one error and harms nothing"),
  done("P02", "A burst of malformed lines is drained quickly with bounded memory and log"),
  done("P03", "A line or prompt over its limit is refused at once, and the error states the limit"),
  done("P04", "Requests out of order get the documented code, and ids come back with their type"),
  done("P05", "Prototype keys have no effect; extreme nesting and key counts are refused"),
  done("P06", "Every line on stdout is a protocol message"),

  // Load
  done("P07", "A hundred threads stream at once and every delta arrives in order"),
  done("P08", "A thousand stored threads do not slow the start, and pages are complete"),
  done("P09", "A client that stops reading costs bounded memory and does not disturb other clients"),
  done("P10", "Fifty subscribers see one order of events; a stalled one is dropped and can resume"),
  done("P11", "A turn of very many deltas and a very loud command completes with output capped"),

  // Interrupt and approval
  done("P12", "An interrupt while streaming ends the turn within the time limit"),
  done("P13", "An interrupt while a command runs ends the turn with the process gone"),
  done("P14", "An unanswered approval times out as declined, and nothing runs"),

  // Crash
  done("P15", "A killed server loses nothing older than the flush window and ends the turn as interrupted"),
  done("P16", "A command cut off by a crash is never run again by a resume"),
  done("P17", "An approval open at a crash is not open afterwards, and its command did not run"),
  done("P18", "A torn last line is skipped with a warning and the next record starts on its own line"),
  done("P19", "A polite stop in mid-turn exits cleanly, records the turn and leaves no children"),
  done("P20", "A full disk is reported, kills nothing and merges no records"),
  done("P21", "A second server on a thread is refused; after a kill the thread can be taken over"),
  done("P22", "Many kill and start rounds lose no thread and leave no temporary file"),

  // Agents
  done("P23", "No agent process outlives the server, whatever way it ends"),
  done("P24", "An agent that dies fails its turn, and the next turn resumes with a new one"),
  done("P25", "A hostile agent cannot stall, flood or crash the server"),
  done("P26", "A client that vanishes leaves its approval to the others"),

  // Isolation
  done("P27", "A thread id that is not a plain name is refused by every method and touches no file"),
  done("P28", "The network listener is off by default, bound to loopback and protected by a token"),
  done("P29", "A foreign Origin or Host is refused before anything is read"),
  done("P30", "Everything in the store is private to its owner, and looser files are tightened"),
  done("P31", "Provider keys never reach logs, arguments or the commands that agents run"),
  done("P32", "A sandboxed command can write inside its roots only and reach no network"),
  done("P33", "Without a sandbox, sandboxed policies refuse to run and say so"),
  done("P34", "Only plainly harmless commands are trusted; every trick asks"),
  done("P35", "Files in a workspace change and run nothing until they are trusted"),
  done("P36", "Control characters in untrusted text are shown, never obeyed"),

  // Tasks
  done("P37", "Killing workers at random loses no task and completes none twice"),
  done("P38", "An outage of Redis loses no acknowledged task"),
];
