import { BusError } from '../errors/bus-error.js';

const detailCharsMax = 200;

/** RECORD_DAMAGED: one unreadable record must not affect the rest. */
export function damagedRecord(key: string, cause: unknown): BusError {
  const detail = (cause instanceof Error ? cause.message : String(cause)).slice(0, detailCharsMax);
  return new BusError('RECORD_DAMAGED', { key, detail }, { cause });
}
