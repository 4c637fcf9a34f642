import { pino, type DestinationStream } from 'pino';
import type { Trace } from '../base/trace.js';
import { traceId } from '../base/trace-context.js';
import type { Config } from '../config/config.js';
import { redacted, redactedText } from './redaction.js';

/** No children: their own fields would pass no redaction. */
export type Logger = Pick<pino.Logger, 'error' | 'warn' | 'info' | 'debug'>;

/** JSON lines on stderr; stdout belongs to results. Every field passes the redaction, at any depth; a line of a trace has its id. */
export function openLog(
  config: Pick<Config, 'log'>,
  fields: Record<string, unknown>,
  destination: DestinationStream = pino.destination({ dest: 2, sync: true }),
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

/** The `Trace` that library parts get instead of a logger. */
export function traceTo(log: Logger): Trace {
  return (level, what, fields = {}) => log[level](fields, what);
}
