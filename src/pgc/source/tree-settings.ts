import { z } from 'zod';
import { BusError } from '../../errors/bus-error.js';

/**
 * Parses a JSON file below `.sigma/`, in which a tree holds settings. `file`: path relative to the root. Throws
 * CONFIG_INVALID with the place in the file.
 */
export function readSettings<T>(file: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalidSettings(file, error instanceof Error ? error.message : 'not JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = (issue?.path ?? [])
    .map((each) => (typeof each === 'number' ? `[${each}]` : `.${String(each)}`))
    .join('')
    .replace(/^\./, '');
  const where = place === '' ? 'top level' : place;
  throw invalidSettings(file, `${where}: ${issue?.message ?? 'not valid'}`);
}

export function invalidSettings(file: string, detail: string): BusError {
  return new BusError('CONFIG_INVALID', { detail: `${file}: ${detail}` });
}
