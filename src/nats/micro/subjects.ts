import { isInbox } from '../subjects.js';

// What a stranger names is published to with our rights, which it may not have: a text for an agent must not become a command to the
// server, an entry of a log, or a frame of a bus.

/** Whether an answer may be sent there. */
export function isReplySubject(subject: string): boolean {
  return isInbox(subject) && isPlain(subject);
}

/** Whether an agent may be asked there: what is named elsewhere may be of another program, which would get our text. */
export function isAgentSubject(verb: 'prompt' | 'status', subject: string): boolean {
  return subject.startsWith(`agents.${verb}.`) && isPlain(subject);
}

/** Tokens without wildcards. */
function isPlain(subject: string): boolean {
  return /^[^\s.*>]+(\.[^\s.*>]+){0,30}$/.test(subject);
}
