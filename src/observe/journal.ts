import { fstatSync } from 'node:fs';

/** As in syslog; the journal takes them from the beginning of a line. */
export const priorities = { error: '<3>', warn: '<4>', info: '<6>', debug: '<7>' } as const;

/** Whether what is written to this descriptor goes to the journal of systemd, and not to a file or pipe that was put in its place. */
export function isJournal(descriptor: number, stream = process.env.JOURNAL_STREAM): boolean {
  if (stream === undefined) return false;
  try {
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return stream === `${dev}:${ino}`;
  } catch {
    return false;
  }
}
