import { done, type Requirement } from "./requirement.ts";

/** ACP as editors speak it, Claude's stream-json, and Codex as a bridge sees it. */
export const S3: readonly Requirement[] = [
  // ACP: initialize
  done("S3-1", "ACP messages carry the JSON-RPC 2.0 header on stdio"),
  done("S3-2", "initialize answers protocol version 1 and the agent's name, title and version"),
  done("S3-3", "initialize states whether image, audio and embedded context prompts are supported"),
  done("S3-4", "initialize states which MCP transports are supported"),
  done("S3-5", "initialize answers session capabilities"),
  done("S3-6", "initialize states whether sessions can be loaded"),
  done("S3-7", "initialize lists the login methods, including a terminal login"),

  // ACP: session updates
  done("S3-8", "Every session/update names its session and its kind of update"),
  done("S3-9", "The agent's text arrives as agent_message_chunk"),
  done("S3-10", "Prompts the user did not type arrive as user_message_chunk"),
  done("S3-11", "Reasoning arrives as agent_thought_chunk"),
  done("S3-12", "A tool call has id, title, kind, status, raw input and locations"),
  done("S3-13", "A tool call update changes status, title and content"),
  done("S3-14", "Tool content may be a terminal or the old and new text of a file"),
  done("S3-15", "A plan arrives as a list of entries with states"),
  done("S3-16", "The agent's own commands arrive as available_commands_update too"),
  done("S3-17", "A change of mode arrives as current_mode_update"),
  done(
    "S3-18",
    "A change of model arrives as a config option, and as current_model_update too if the client declares it: the ACP schema has no such update",
  ),

  // ACP: shapes
  done("S3-19", "session/new answers id, config options, models and modes"),
  done("S3-20", "A config option has its current value and the values to choose from"),
  done("S3-21", "Resuming the last session automatically is a config option"),
  done("S3-22", "Text, image, resource and resource link blocks are taken; audio is refused with a reason"),
  done("S3-23", "A tool call is pending, in_progress, completed or failed"),
  done(
    "S3-24",
    "A tool call is read, edit, delete, move, search, execute, think, fetch, switch_mode or other",
  ),
  done("S3-25", "A prompt ends as end_turn, cancelled, max_tokens, max_turn_requests or refusal"),
  done(
    "S3-26",
    "Claude's result subtypes lead to the stop reasons of the table, and its refusals to refusal",
  ),
  done("S3-27", "A turn that ran out of steps continues automatically while Dots or the plan has open tasks"),

  // ACP: methods
  done("S3-28", "initialize negotiates capabilities"),
  done("S3-29", "session/new opens a session"),
  done("S3-30", "session/prompt streams updates, then answers"),
  done("S3-31", "session/cancel is a notification that stops the prompt"),
  done("S3-32", "session/set_mode changes the mode"),
  done("S3-33", "session/set_model changes the model"),
  done("S3-34", "session/request_permission asks, and remembers a lasting permission"),
  done("S3-35", "Files with unsaved changes are read through the client, if the user wants it"),
  done("S3-36", "fs/write_text_file of a client writes the files, if the user wants that"),
  // Clients that know terminal_output are sent it; those that only have terminals of their own get text.
  done("S3-37", "terminal/create of a client shows what a command prints"),
  done("S3-38", "terminal/output of a client's terminal has what a command printed"),
  done("S3-39", "terminal/wait_for_exit of a client's terminal tells how a command ended"),
  done("S3-40", "A terminal stays visible after its command ended"),
  done("S3-41", "session/load opens an earlier session with its history"),
  done("S3-42", "terminal/kill stops a command in a client's terminal"),
  done("S3-43", "Tool updates carry the raw output"),
  done("S3-44", "Edits are shown as diffs"),
  done("S3-45", "Locations have a line number"),
  done("S3-46", "A terminal is linked to the tool call that opened it"),

  // Claude stream-json
  done("S3-47", "A prompt is written as a user frame with a user message"),
  done("S3-48", "Frames written to Claude are user frames or control frames"),
  done("S3-49", "Claude is started in verbose print mode with stream-json both ways"),
  done("S3-50", "The init frame gives session id, tools and model"),
  done("S3-51", "The auth_required frame becomes a clear request to sign in"),
  done("S3-52", "The hook_response frame gives a hook's name, output and exit code"),
  done("S3-53", "Assistant frames give text and tool use"),
  done("S3-54", "A tool result inside an assistant frame is understood"),
  done("S3-55", "A tool result inside a user frame is understood, text or blocks, error or not"),
  done("S3-56", "The result frame gives outcome, text, duration and session id"),
  done("S3-57", "Stream events mark the start and the end of a message"),
  done("S3-58", "Text deltas stream as they come"),
  done("S3-59", "Thinking deltas stream as they come"),

  // Codex bridge
  done("S3-60", "Codex lines carry no JSON-RPC header"),
  done("S3-61", "initialize is followed by an initialized notification"),
  done("S3-62", "thread/start works with no model chosen"),
  done("S3-63", "turn/start carries thread, input and approval policy"),
  done(
    "S3-64",
    "thread/started from Codex is understood; it adds nothing, because the response names the thread",
  ),
  done("S3-65", "turn/started from Codex is understood"),
  done("S3-66", "Message deltas from Codex are understood"),
  done("S3-67", "A started command from Codex is understood with its unknown fields still null"),
  done("S3-68", "A completed item from Codex is understood"),
  done("S3-69", "A completed turn without items keeps the items seen before"),
  done("S3-70", "The answer to turn/start may be relied on to precede turn/started"),
  done("S3-71", "Item events are expected only after turn/started"),
  done("S3-72", "All five command decisions can be sent to Codex"),
  done("S3-73", "The older approval requests get the older decision words"),
  done("S3-74", "Responses echo the id they answer"),
  done("S3-75", "Codex item types are recognised in camel case"),
  done("S3-76", "An exit code is absent until the command has ended"),
];
