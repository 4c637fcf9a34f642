import { AsyncLocalStorage } from 'node:async_hooks';

/** W3C `traceparent`: version, id of the trace, id of the caller's step, flags. */
const form = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-([0-9a-f]{2})$/;
const sampledFlag = 1;

const current = new AsyncLocalStorage<string>();

/**
 * What `work` asks of other agents and what it logs belongs to the trace of this `traceparent`; to none where it is
 * empty or not as W3C has it.
 */
export function inTrace<T>(traceparent: string, work: () => T): T {
  const known = traceparent !== '' && form.test(traceparent) ? traceparent : '';
  // Where nothing is traced nothing is paid for it: from its first use on it costs every promise of a process.
  return known === '' && traceOf() === '' ? work() : current.run(known, work);
}

/** The `traceparent` that goes on with what is asked now; empty: it is of no trace. */
export function traceOf(): string {
  return current.getStore() ?? '';
}

/** The id of this trace, for logs; undefined: of none. */
export function traceId(): string | undefined {
  return form.exec(traceOf())?.[1];
}

/** Its caller records this trace, and wants each step of it recorded. */
export function isSampled(): boolean {
  const trace = traceOf();
  if (trace === '') return false;
  const flags = form.exec(trace)?.[2] ?? '0';
  return (parseInt(flags, 16) & sampledFlag) !== 0;
}
