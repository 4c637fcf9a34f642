/** Reports decisions of a library part without a logger. Fields never hold payloads. */
export interface Trace {
  (
    level: 'debug' | 'info' | 'warn' | 'error',
    what: string,
    fields?: Record<string, unknown>,
  ): void;
}

export const noTrace: Trace = () => undefined;
