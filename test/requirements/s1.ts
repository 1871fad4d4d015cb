import { done, type Requirement } from "./requirement.ts";

/** The harness protocol: dotted methods, requests answered at once, its own store layout and codes. */
export const S1: readonly Requirement[] = [
  // Transport
  done("S1-1", "Harness messages carry the JSON-RPC 2.0 header"),
  done("S1-2", "Harness messages are one per line on stdio"),
  done("S1-3", "Nothing but protocol lines reaches stdout; logs go to stderr or a file"),

  // Methods
  done("S1-4", "initialize takes an optional client name and answers version 1.0.0 and five capabilities"),
  done("S1-5", "thread.create takes an optional title and directory and answers the thread"),
  done("S1-6", "thread.list answers every thread"),
  done("S1-7", "thread.get answers a thread and all its events"),
  done("S1-8", "turn.start runs text input with the named model and agent, and answers a turn id"),
  done("S1-9", "turn.start answers before the work is done; results stream afterwards"),
  done("S1-10", "approval.respond settles a question with once, always or reject"),
  done("S1-11", "turn.cancel stops the running turn of a thread"),

  // Notifications
  done("S1-12", "thread.created is sent for a new thread"),
  done("S1-13", "turn.started is sent when a turn begins"),
  done("S1-14", "turn.completed is sent when a turn succeeds"),
  done("S1-15", "turn.error is sent when a turn fails"),
  done("S1-16", "item.started is sent for each new item"),
  done("S1-17", "item.delta streams text and tool output"),
  done("S1-18", "item.completed is sent when an item is finished"),
  done("S1-19", "approval.requested is sent when the agent needs a decision"),

  // Item types
  done("S1-20", "What the user sent is a user_message with text or files"),
  done("S1-21", "Messages and reasoning of the model are assistant_message items"),
  done("S1-22", "A tool call is a tool_exec"),
  done("S1-23", "Tool output while it streams is a tool_log"),
  done("S1-24", "A question and its answer are an approval item"),
  done("S1-25", "Something produced is an artifact item"),

  // Shapes
  done("S1-26", "A thread has id, title, directory and times of creation and last change"),
  done("S1-27", "A turn has id, thread, start and end time and is running, completed, cancelled or error"),
  done("S1-28", "An item has id, thread, turn, type and optional data"),

  // Persistence
  done("S1-29", "Events are only ever appended to .harness/threads/<id>/events.jsonl"),
  done("S1-30", "Thread details are stored in .harness/threads/<id>/meta.json"),
  done("S1-31", "thread.get shows the same history after a restart"),

  // Errors
  done("S1-32", "The harness front end uses the five standard JSON-RPC error codes"),
  done("S1-33", "An unknown thread is error -32001"),
  done("S1-34", "A second turn while one runs is error -32002"),
  done("S1-35", "An unknown turn is error -32003"),
  done("S1-36", "An unknown approval is error -32004"),

  // Command line
  done("S1-37", "The harness command takes the working directory as --cwd"),
  done("S1-38", "One request piped to stdin is answered, then the program ends"),
  done("S1-39", "A demo client takes --cwd and a prompt and shows the turn"),
];
