import { expect, test } from 'vitest';
import { asBusError, BusError, RemoteError } from '../../../src/errors/bus-error.js';
import { catalogue } from '../../../src/errors/catalogue.js';

test('every error says what happened and what to do next', () => {
  for (const [code, entry] of Object.entries(catalogue)) {
    expect(code).toMatch(/^[A-Z][A-Z_]+$/);
    expect(entry.text.length, code).toBeGreaterThan(3);
    expect(entry.next, code).toMatch(/^[A-Z].*\.$/);
  }
});

test('text and advice are filled from the data', () => {
  const error = new BusError('INDEX_MISSING', { path: '/src/linux' });
  expect(error.message).toBe('there is no index of /src/linux');
  expect(error.next).toBe('Build it: `sigma index /src/linux`.');
});

test('what is too large is counted in its unit, usually bytes', () => {
  const size = { what: 'a list', bytes: 300, limit: 200 };
  expect(new BusError('TOO_LARGE', { ...size, unit: 'citations' }).message).toBe(
    'a list of 300 citations exceeds the limit of 200',
  );
  expect(new BusError('TOO_LARGE', size).message).toBe(
    'a list of 300 bytes exceeds the limit of 200',
  );
});

test('a code that only the peer knows keeps its text and whether to retry', () => {
  const error = new RemoteError({ code: 'FROM_THE_FUTURE', text: 'new trouble', retryable: true });
  expect([error.code, error.retryable, error.toFailure()]).toEqual([
    'INTERNAL',
    true,
    { code: 'FROM_THE_FUTURE', text: 'new trouble', retryable: true },
  ]);
});

test('a foreign exception becomes INTERNAL and keeps its cause', () => {
  const cause = new TypeError('x is not a function');
  expect(asBusError(cause)).toMatchObject({ code: 'INTERNAL', cause });
});

test('what to do about an error that came from elsewhere names what it does not know', () => {
  const failure = {
    code: 'GATE_JUDGED',
    text: 'gate gate-t-1 is judged already',
    retryable: false,
  };
  expect(new RemoteError(failure).next).toBe(
    'Run `sigma gate show GATE` to see how it was judged.',
  );
});
