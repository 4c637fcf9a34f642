/** How a library part tells what it decided, without knowing a logger. Fields never hold payloads. */
export interface Trace {
  (
    level: 'debug' | 'info' | 'warn' | 'error',
    what: string,
    fields?: Record<string, unknown>,
  ): void;
}

export const noTrace: Trace = () => undefined;
