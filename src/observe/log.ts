import { pino, type Logger } from 'pino';
import type { Trace } from '../base/trace.js';
import type { Config } from '../config/config.js';

export type { Logger };

/** Whatever is named like a secret is never written, at whatever depth of the first three. */
const secretNames = [
  'secret',
  'token',
  'password',
  'hmac',
  'nonce',
  'key',
  'authorization',
  'body',
  'payload',
];
const redactedPaths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** JSON lines on stderr; stdout belongs to results. */
export function openLog(config: Config, fields: Record<string, unknown>): Logger {
  return pino(
    {
      level: config.log,
      base: { ...fields, pid: process.pid },
      redact: { paths: redactedPaths, censor: '[redacted]' },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ dest: 2, sync: true }),
  );
}

/** What library parts are given instead of a logger. */
export function traceTo(log: Logger): Trace {
  return (level, what, fields = {}) => log[level](fields, what);
}
