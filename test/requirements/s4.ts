import { done, planned, type Requirement } from "./requirement.ts";

/** One interface over Claude and Codex: framing, sessions, approvals, failures, tests, operation. */
export const S4: readonly Requirement[] = [
  // Transport and framing
  planned("S4-1", "claude driver", "Claude runs in print mode with stream-json output and a permission mode"),
  planned("S4-2", "claude driver", "Claude's output is read as one JSON object per line"),
  planned("S4-3", "claude driver", "Claude's lines that are not JSON, and its stderr, do no harm"),
  planned("S4-4", "codex driver", "Codex is a long-lived server with one message per line both ways"),
  done("S4-5", "Every line is told apart as response, notification or request"),

  // Life of a conversation
  planned("S4-6", "claude driver", "Claude is resumed by the session id it reported last"),
  planned(
    "S4-7",
    "codex driver",
    "A Codex turn goes from initialize to turn/completed and keeps the thread id",
  ),

  // Message shapes
  planned("S4-8", "claude driver", "Assistant, user and result frames are understood, session id included"),
  planned("S4-9", "codex driver", "The five core Codex requests are sent as Codex expects them"),
  planned("S4-10", "codex driver", "Codex notifications are understood, MCP progress and errors included"),
  planned("S4-11", "codex driver", "Codex's requests are answered, questions to the user included"),

  // Sessions
  done("S4-12", "Each conversation key is mapped to one stored session id"),
  planned("S4-13", "claude driver", "A session is resumed in the way its agent wants"),
  done("S4-14", "Resetting a conversation forgets its session, so the next turn starts fresh"),

  // Streaming
  planned("S4-15", "claude driver", "Claude's text blocks add up to the answer"),
  planned("S4-16", "claude driver", "Claude's tool use and result blocks pair up to a tool status"),
  planned("S4-17", "claude driver", "A Claude result marked as error fails the turn"),
  planned("S4-18", "codex driver", "Codex's message deltas add up to the answer"),
  planned("S4-19", "codex driver", "Codex's item starts and ends give the tool events"),
  done("S4-20", "turn/completed, and nothing else, ends a turn"),

  // Approvals
  done("S4-21", "The answer to a server request carries the same id"),
  done("S4-22", "A question to the user is answered by question id with a list of answers"),
  done("S4-23", "A question nobody answers cannot hold a turn for ever"),

  // Workspace
  done("S4-24", "The workspace is given both as cwd and as a line before the prompt"),

  // Failures
  planned(
    "S4-25",
    "claude driver",
    "Claude's exit code, signal, bad output and error result each fail the turn",
  ),
  planned(
    "S4-26",
    "codex driver",
    "Codex's error reply, error notice, failed turn and exit each fail the turn",
  ),
  done("S4-27", "Whatever goes wrong reaches the caller as one kind of failed turn"),

  // Sign-in
  planned("S4-28", "claude driver", "Claude uses the login of its own command line"),
  planned("S4-29", "codex driver", "Codex uses its account or an API key from the environment"),
  done("S4-30", "A missing setup is reported with the way to fix it, and no login is built in"),

  // Adapter interface
  done("S4-31", "runTurn takes a conversation key, a prompt and a context and resolves to the answer"),
  done("S4-32", "startNewSession makes the next turn of a key start fresh"),
  done("S4-33", "closeAll ends everything that was started"),

  // Building blocks
  done("S4-34", "Lines are found whatever way the bytes are cut into chunks"),
  done("S4-35", "A classifier sorts responses, notifications and server requests"),
  done("S4-36", "Each answer finds the request that waits for it"),
  done("S4-37", "Tool and status events are mapped for display"),
  done("S4-38", "Session ids survive a restart"),
  done("S4-39", "A process that cannot start, closes or writes to stderr is handled"),
  done("S4-40", "Unknown methods are noted and do not stop the conversation"),
  done("S4-41", "A malformed line never ends the program"),

  // Tests
  done("S4-42", "Framing, classifier, approval answers and session mapping have unit tests"),
  done("S4-43", "A fake agent process plays a realistic sequence in an integration test"),
  done("S4-44", "That test checks the final text, the tool events and the stored session id"),

  // Versions
  planned(
    "S4-45",
    "codex driver",
    "Both Codex method families are understood and the newer one is preferred",
  ),
  done("S4-46", "Protocol names and numbers are defined in one place"),
  planned(
    "S4-47",
    "codex driver",
    "Claude's and Codex's words for the same seven things lead to the same Flint words",
  ),

  // Operation
  planned("S4-48", "codex driver", "One Codex process serves a conversation for as long as it lives"),
  done("S4-49", "Without a human the approval defaults are the careful ones"),
  done("S4-50", "Logs of raw lines are cut at a limit"),
  done("S4-51", "Every conversation leaves its events on disk for later study"),
];
