import type { Operation } from './port.js';

/** Stores a value as JSON. */
export function put(key: string, value: unknown): Extract<Operation, { type: 'put' }> {
  return { type: 'put', key, value: Buffer.from(JSON.stringify(value)) };
}

export function del(key: string): Operation {
  return { type: 'del', key };
}
