import fc from 'fast-check';
import { expect, test } from 'vitest';
import { linkTrust, linkTrustMax } from '../../../src/lattice/query/link-trust.js';

test('a link that nothing speaks for earns no trust, and none is ever certain', () => {
  expect(linkTrust(0)).toBe(0);
  expect(linkTrust(1)).toBeLessThanOrEqual(linkTrustMax);
});

test('a more relevant link is never trusted less', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(share, share, (one, other) => {
      const [low, high] = one < other ? [one, other] : [other, one];
      expect(linkTrust(low)).toBeLessThanOrEqual(linkTrust(high));
    }),
  );
});
