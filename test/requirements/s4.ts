import { done, type Requirement } from "./requirement.ts";

/** One interface over Claude and Codex: framing, sessions, approvals, failures, tests, operation. */
export const S4: readonly Requirement[] = [
  // Transport and framing
  done("S4-1", "Claude runs in print mode with stream-json output and a permission mode"),
  done("S4-2", "Claude's output is read as one JSON object per line"),
  done("S4-3", "Claude's lines that are not JSON, and its stderr, do no harm"),
  done("S4-4", "Codex is a long-lived server with one message per line both ways"),
  done("S4-5", "Every line is classified as response, notification or request"),

  // Life of a conversation
  done("S4-6", "Claude is resumed by the session id it reported last"),
  done("S4-7", "A Codex turn goes from initialize to turn/completed and keeps the thread id"),

  // Message shapes
  done("S4-8", "Assistant, user and result frames are understood, session id included"),
  done("S4-9", "The five core Codex requests are sent as Codex expects them"),
  done("S4-10", "Codex notifications are understood, MCP progress and errors included"),
  done("S4-11", "Codex's requests are answered, questions to the user included"),

  // Sessions
  done("S4-12", "Each conversation key is mapped to one stored session id"),
  done("S4-13", "A session is resumed in the way its agent wants"),
  done("S4-14", "Resetting a conversation forgets its session, so the next turn starts fresh"),

  // Streaming
  done("S4-15", "Claude's text blocks add up to the answer"),
  done("S4-16", "Claude's tool use and result blocks pair up to a tool status"),
  done("S4-17", "A Claude result marked as error fails the turn"),
  done("S4-18", "Codex's message deltas add up to the answer"),
  done("S4-19", "Codex's item starts and ends give the tool events"),
  done("S4-20", "turn/completed, and nothing else, ends a turn"),

  // Approvals
  done("S4-21", "The answer to a server request carries the same id"),
  done("S4-22", "A question to the user is answered by question id with a list of answers"),
  done("S4-23", "An unanswered question cannot block a turn forever"),

  // Workspace
  done("S4-24", "The workspace is given both as cwd and as a line before the prompt"),

  // Failures
  done("S4-25", "Claude's exit code, signal, bad output and error result each fail the turn"),
  done("S4-26", "Codex's error reply, error notice, failed turn and exit each fail the turn"),
  done("S4-27", "Whatever goes wrong reaches the caller as one kind of failed turn"),

  // Sign-in
  done("S4-28", "Claude uses the login of its own command line"),
  done("S4-29", "Codex uses its account or an API key from the environment"),
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
  done("S4-45", "Both Codex method families are understood and the newer one is preferred"),
  done("S4-46", "Protocol names and numbers are defined in one place"),
  done("S4-47", "Claude's and Codex's words for the same seven things lead to the same Flint words"),

  // Operation
  done("S4-48", "One Codex process serves a conversation for as long as it lives"),
  done(
    "S4-49",
    "Without a human what needs an approval is declined; a task lets its agent work inside the sandbox only, and asks",
  ),
  done("S4-50", "Logs of raw lines are cut at a limit"),
  done("S4-51", "Every conversation leaves its events on disk for later study"),
];
