import { SCRIPTED_AGENTS } from "./scripted-agents.ts";
import { playSession } from "./terminal/session-story.ts";

SCRIPTED_AGENTS.filter(({ program }) => program !== undefined).forEach(playSession);
