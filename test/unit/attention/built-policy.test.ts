import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parsePolicy } from '../../../src/attention/classify/policy.js';

const place = 'src/attention/classify/policy';
const root = new URL('../../../', import.meta.url);

test('what the build has read of the policy is what its text says', () => {
  const built: unknown = JSON.parse(readFileSync(new URL(`dist/${place}.json`, root), 'utf8'));
  const text = readFileSync(new URL(`${place}.yaml`, root), 'utf8');
  expect(built).toEqual(parsePolicy(text, 'policy.yaml'));
});
