import { done, type Requirement } from "./requirement.ts";

/** Codex app-server as its clients use it, and the task layer that republishes its turns. */
export const S2: readonly Requirement[] = [
  // Connection
  done("S2-1", "The Codex front end speaks JSON-RPC, one message per line on stdio"),
  done("S2-2", "A client spawns the server, initializes, works, and closes stdin to end it"),
  done("S2-3", "Messages that carry the JSON-RPC header are understood too"),
  done("S2-4", "initialize takes client info and empty capabilities"),
  done("S2-5", "session.messages pages by limit and offset"),

  // Threads
  done(
    "S2-6",
    "Model, cwd, policies, ephemeral, developer instructions and personality of thread/start reach the agent",
  ),
  done("S2-7", "thread/list pages, filters archived threads, sorts, and searches titles"),
  done("S2-8", "thread/read shows a thread, with its turns when asked"),
  done("S2-9", "thread/resume can change model and developer instructions"),
  done("S2-10", "thread/fork copies a thread and lets settings differ"),
  done("S2-11", "thread/archive hides a thread from the ordinary list"),
  done("S2-12", "thread/unarchive restores a thread"),
  done("S2-13", "thread/name/set gives a thread a title"),
  done("S2-14", "thread/rollback drops the last turns and leaves files alone"),
  done(
    "S2-15",
    "thread/compact/start shortens the context of a thread; a task does so from its second rejection on",
  ),

  // Turns
  done(
    "S2-16",
    "Output schema, effort, sandbox, model, personality and summary of turn/start reach the agent",
  ),
  done("S2-17", "turn/steer adds input to the running turn if it is the expected one"),
  done("S2-18", "turn/interrupt ends a running turn as interrupted"),

  // Review
  done("S2-19", "review/start takes a target and a delivery"),
  done("S2-20", "A review looks at uncommitted changes, a base branch, a commit or custom instructions"),
  done("S2-21", "A review runs inline, or detached in a new thread whose id is answered"),

  // Account, config, models
  done("S2-22", "account/read shows who is signed in to the agent"),
  done("S2-23", "account/rateLimits/read has the limits that the agents reported, in Codex's shape"),
  done("S2-24", "account/login/start starts the login of the agent behind"),
  done("S2-25", "account/logout signs out of the agent behind"),
  done("S2-26", "config/read shows the settings in force"),
  done("S2-27", "model/list shows models without asking the agent each time"),
  done("S2-28", "mcpServerStatus/list shows each MCP server and its state"),
  done("S2-29", "experimentalFeature/list, hooks/list and plugin/list have what the agent behind reports"),
  done("S2-30", "command/exec runs one command under the sandbox"),

  // Notifications
  done("S2-31", "turn/started carries the turn id that steer and interrupt need"),
  done("S2-32", "turn/completed carries the final status and the items"),
  done("S2-33", "turn/diff/updated carries the diff of the turn so far"),
  done("S2-34", "turn/plan/updated carries the steps and their states"),
  done("S2-35", "item/started announces each item"),
  done("S2-36", "item/completed closes each item"),
  done("S2-37", "Agent text streams as deltas"),
  done("S2-38", "Command output streams as deltas"),
  done(
    "S2-39",
    "A file change streams while it is written: as deltas, and as patchUpdated for Codex clients",
  ),
  done("S2-40", "Reasoning text streams as deltas"),
  done("S2-41", "Reasoning summaries stream as deltas"),
  done("S2-42", "thread/name/updated tells of a new title"),
  done("S2-43", "thread/tokenUsage/updated tells last and total use, cache and reasoning apart"),
  done("S2-44", "error has a message, its kind, optional details and whether it is retried"),
  done("S2-45", "model/rerouted tells from which model to which and why"),
  done("S2-46", "A deprecation notice of the agent reaches every client, in Codex's words a Codex client"),
  done(
    "S2-47",
    "A warning about the agent's configuration reaches every client, in Codex's words a Codex client",
  ),
  done("S2-48", "The turn id is kept from turn/started so that a task can be interrupted"),
  done("S2-49", "Reasoning summaries of a finished turn go to the task log"),
  done("S2-50", "Usage, reroutes, errors and warnings are always handled"),
  done("S2-51", "Text and output deltas are not republished"),

  // Task events
  done("S2-52", "Executor and reviewer turns are republished to a Redis stream"),
  done("S2-53", "task:turn tells of a turn's start and end"),
  done("S2-54", "task:item_started tells of an item's start"),
  done("S2-55", "task:item_completed tells of an item's end"),
  done("S2-56", "task:plan_updated tells of a new plan"),
  done("S2-57", "task:turn_diff tells of a new diff"),
  done("S2-58", "task:token_usage tells of token use"),
  done("S2-59", "task:thread_status tells of a thread's state"),
  done("S2-60", "task:model_rerouted tells of another model"),
  done("S2-61", "task:backend_error tells of an agent's error"),
  done("S2-62", "task:backend_warning tells of an agent's warning"),
  done("S2-63", "task:execution_fallback tells that another way was taken"),
  done("S2-64", "task:heartbeat tells that a task is alive"),
  done("S2-65", "Every task event carries the whole thread context"),
  done("S2-66", "Item events carry a short summary with bounded text"),
  done("S2-67", "Plan events carry each step and its state"),
  done("S2-68", "Executor and reviewer turns ask for concise reasoning summaries"),
  done("S2-69", "Reasoning summaries explain rejections and decisions in the task log"),
  done("S2-70", "session.post adds a channel message and emits session:message"),
  done("S2-71", "task.steer records a steer and can inject it into the running turn"),
  done("S2-72", "task.steers lists every steer that was recorded"),

  // Server requests
  done("S2-73", "A command question takes accept, acceptForSession, decline or cancel"),
  done("S2-74", "A file change question takes the same four answers"),
  done("S2-75", "A skill question takes approve or decline"),
  done("S2-76", "item/tool/call runs a tool that the client offers"),
  done("S2-77", "item/tool/requestUserInput asks the user through the client"),
  done("S2-78", "A task may be configured to accept every approval for what stays in its sandbox"),
  done("S2-79", "A request that is not supported is answered with an error"),

  // Schemas
  done("S2-80", "Every message that leaves is valid against the published schemas"),
  done("S2-81", "Unknown fields, wrong types and missing fields are found by a test"),
  done("S2-82", "A method or handler without a schema test fails the suite"),

  // Shapes
  done("S2-83", "Turn input names the thread and lists the inputs"),
  done("S2-84", "Input may be text, image, local image, skill or mention"),
  done("S2-85", "The four sandbox policies are accepted in their object form"),
  done("S2-86", "Token use has last, total and context window, each with five counts"),
  done("S2-87", "The eight error kinds are distinguished"),
  done("S2-88", "An error notification states whether it will be retried"),
];
