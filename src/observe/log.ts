import { pino, type DestinationStream } from 'pino';
import type { Trace } from '../base/trace.js';
import { traceId } from '../base/trace-context.js';
import type { Config } from '../config/config.js';
import { isJournal, priorityOf } from './journal.js';
import { redacted, redactedText } from './redaction.js';

/** No children: their own fields would pass no redaction. */
export type Logger = Pick<pino.Logger, 'error' | 'warn' | 'info' | 'debug'>;

/** JSON lines on stderr, and in the journal of systemd with their priority; stdout belongs to results. Every field passes the redaction, at any depth; a line of a trace has its id. */
export function openLog(
  config: Pick<Config, 'log'>,
  fields: Record<string, unknown>,
  destination: DestinationStream = standardError(),
): Logger {
  return pino(
    {
      level: config.log,
      base: { ...fields, pid: process.pid },
      // Our redaction has already run.
      serializers: { err: (value: unknown) => value },
      mixin: () => {
        const id = traceId();
        return id === undefined ? {} : { trace_id: id };
      },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        bindings: (each) => redacted(each) as Record<string, unknown>,
        log: (each) => redacted(each) as Record<string, unknown>,
      },
      hooks: {
        logMethod(args, method) {
          const masked: unknown[] = args.map((each: unknown) =>
            typeof each === 'string' ? redactedText(each) : each,
          );
          method.apply(this, masked as Parameters<typeof method>);
        },
      },
    },
    destination,
  );
}

function standardError(): DestinationStream {
  const stderr = pino.destination({ dest: 2, sync: true });
  if (!isJournal(2)) return stderr;
  return prioritized((line) => void stderr.write(line));
}

/** Each line begins with the priority that the journal sorts it by. */
export function prioritized(write: (line: string) => void): DestinationStream {
  const stream = {
    // Asks pino for `lastLevel`: that of the line it writes.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string): void => write(priorityOf(pino.levels.labels[stream.lastLevel]) + line),
  };
  return stream;
}

/** The `Trace` that library parts get instead of a logger. */
export function traceTo(log: Logger): Trace {
  return (level, what, fields = {}) => log[level](fields, what);
}
