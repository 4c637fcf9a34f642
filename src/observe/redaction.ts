import { withoutPrivateKeys } from '../base/private-key.js';

/** Names of secrets: `clientSecret`, `api_key`, `Authorization`, `x-auth-token` … */
const secretName =
  /secret|passw(or)?d|passphrase|hmac|nonce|authorization|cookie|credential|token|(^|[^a-z])(proof|pin)$|(^|[_-])key$/i;
const camelKey = /[a-z]Key$/;
/** Not secrets: counts of tokens, and names such as `order_key`. */
const figureName = /tokens$/i;
const namingKey = /^(order|record|sort|dedupe)_?key$/i;
/** Payloads, which a log must not hold. */
const payloadName = /^(body|payload)$/i;
/** `Authorization: Bearer abc`, `password=abc` and `ghp_…` inside a text, such as the message of a foreign error. */
const secretInText =
  /\b(bearer|basic)\s+[\w.~+/=-]{6,}|\b(?:[\w-]{0,40}(?:password|passwd|secret|token|api_?key))(?:"?\s*[:=]\s*"?)[^\s"',;&}]+|\b(?:gh[pousr]_|sk-|xox[abprs]-)[\w-]{8,}/gi;

const depthMax = 8;
const entriesMax = 256;

export const censored = '[redacted]';

/** A log hides secrets and payloads. */
function isHiddenInLogs(name: string, value: unknown): boolean {
  return payloadName.test(name) || isSecret(name, value);
}

export function isSecret(name: string, value: unknown): boolean {
  if (!secretName.test(name) && !camelKey.test(name)) return false;
  if (namingKey.test(name)) return false;
  return !(figureName.test(name) && typeof value === 'number');
}

/**
 * A copy that is safe to write: fields selected by `hides` are replaced, bytes are only counted,
 * errors keep their code, text and data. Deeper than eight levels, and past 256 entries, nothing is copied.
 */
export function redacted(value: unknown, hides = isHiddenInLogs, depth = 0): unknown {
  const copied = (each: unknown): unknown => redacted(each, hides, depth + 1);
  if (typeof value === 'string') return redactedText(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return `[${value.byteLength} bytes]`;
  if (depth >= depthMax) return '[deeper]';
  if (Array.isArray(value) || value instanceof Set)
    return [...(value as Iterable<unknown>)].slice(0, entriesMax).map(copied);
  return redactedFields(fieldsOf(value), hides, copied);
}

function fieldsOf(value: object): [unknown, unknown][] {
  if (value instanceof Map) return [...(value as Map<unknown, unknown>)];
  const own = Object.entries(value);
  if (!(value instanceof Error)) return own;
  const { name, message, cause } = value;
  const causes = cause === undefined ? [] : [['cause', cause] as [string, unknown]];
  // Also the fields that libraries add to errors: `code`, `data`, sometimes a whole request.
  return [
    ['name', name],
    ['message', message],
    ...own.filter(([key]) => key !== 'name'),
    ...causes,
  ];
}

function redactedFields(
  entries: [unknown, unknown][],
  hides: typeof isHiddenInLogs,
  copied: (value: unknown) => unknown,
): object {
  return Object.fromEntries(
    entries.slice(0, entriesMax).map(([key, value]) => {
      const name = String(key);
      return [name, hides(name, value) ? censored : copied(value)];
    }),
  );
}

export function redactedText(text: string): string {
  return withoutPrivateKeys(text, censored).replace(secretInText, censored);
}
