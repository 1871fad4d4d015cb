export { type AskUser, answerElicitation, type ElicitationResult } from "./elicitation.ts";
