import { withoutPrivateKeys } from '../../base/private-key.js';
import { withoutCredentials } from '../../pgc/mine/items/redaction.js';

/** Of one line: what is longer is looked at in pieces. */
const pieceChars = 4_000;
const redacted = '[redacted]';

/** A text without the credentials that it shows; its lines stay where they are. */
export function withoutSecrets(text: string): string {
  return withoutPrivateKeys(text, redacted)
    .split('\n')
    .map((line) => (line.length <= pieceChars ? line : line.match(piece)))
    .map((parts) =>
      typeof parts === 'string'
        ? withoutCredentials(parts)
        : (parts ?? []).map(withoutCredentials).join(''),
    )
    .join('\n');
}

/** As much as fits, up to a blank that stands behind a word: what a mark announces stays beside it. */
const piece = new RegExp(`.{1,${pieceChars - 1}}[\\w"'.)](?=\\s)|.{1,${pieceChars}}`, 'gsu');

/** Every text in it, however deep, without the credentials that it shows. */
export function secretsOutOf<T>(value: T): T {
  if (typeof value === 'string') return withoutSecrets(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(secretsOutOf) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, secretsOutOf(each as unknown)]),
  ) as T;
}
