import { createHash } from 'node:crypto';
import path from 'node:path/posix';
import type { ActionInQuestion } from './shapes.js';

/** The exact action as a number, so that another one is seen to be another. */

/** JSON with the keys in order: the same value has one text. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .sort(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonicalJson(each)}`).join(',')}}`;
}

/** Hexadecimal SHA-256 of runner, arguments, folder, given environment, input and promises; not of what is said with it. */
export function actionDigest(action: ActionInQuestion): string {
  const { runner, argv, env, stdin, read_only, idempotency_key } = action;
  const exact = {
    runner,
    argv,
    cwd: resolvedFolder(action.cwd),
    env,
    stdin,
    read_only,
    idempotency_key,
  };
  return createHash('sha256').update(canonicalJson(exact)).digest('hex');
}

/** `./a/../b/` is `b`; the root is empty. */
export function resolvedFolder(cwd: string): string {
  const normal = path.normalize(cwd === '' ? '.' : cwd).replace(/(?<=.)\/$/, '');
  return normal === '.' ? '' : normal;
}
