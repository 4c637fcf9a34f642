import { fstatSync } from 'node:fs';

/** As in syslog, by level. */
const priorities = new Map([
  ['error', 3],
  ['warn', 4],
  ['info', 6],
  ['debug', 7],
]);

/** The journal takes it from the beginning of a line. */
export function priorityOf(level = 'info'): string {
  return `<${priorities.get(level) ?? 6}>`;
}

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

/** What a command says there: as a line of the log, so that a monitor finds its fields. */
export function journalLine(
  level: 'error' | 'info',
  fields: { msg: string; code?: string; next?: string },
): string {
  const line = { level, time: new Date().toISOString(), ...fields };
  return `${priorityOf(level)}${JSON.stringify(line)}\n`;
}
