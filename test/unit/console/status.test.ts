import { expect, test } from 'vitest';
import { BusError } from '../../../src/errors/bus-error.js';
import { catalogue, isErrorCode } from '../../../src/errors/catalogue.js';
import { statusOf } from '../../../services/http-server.js';

test('only what is broken here is a failure of the server; what may succeed later says so', () => {
  for (const [code, { retryable, isFault }] of Object.entries(catalogue)) {
    if (!isErrorCode(code)) throw new Error(code);
    const status = statusOf(new BusError(code));
    if (isFault) expect([code, status]).toEqual([code, 500]);
    else if (retryable) expect([code, status]).toEqual([code, 503]);
    else expect([code, Math.floor(status / 100)]).toEqual([code, 4]);
  }
  expect(statusOf(new BusError('INTERNAL'))).toBe(500);
});
