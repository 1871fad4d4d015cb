import { SCRIPTED_AGENTS } from "./scripted-agents.ts";
import { playSession } from "./session-story.ts";

SCRIPTED_AGENTS.filter(({ program }) => program !== undefined).forEach(playSession);
