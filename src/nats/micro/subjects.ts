/**
 * Whether a subject that a stranger names may be published to: a text for an agent must not become a command to the server, to its
 * streams, or to a bus of ours.
 */
export function isForeignSubject(subject: string): boolean {
  return subjectPattern.test(subject) && !ours.test(subject);
}

/** Tokens without wildcards; the first does not begin as those of the server do. */
const subjectPattern = /^(?!\$)[^\s.*>]+(\.[^\s.*>]+){0,30}$/;
const ours = /^sigma\./;
