import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readTables } from '../../../src/attention/policy/policy-file.js';

const root = new URL('../../../', import.meta.url);

test('what the build has read of the tables is what their texts say', () => {
  const file = new URL('dist/src/attention/tables/policy.json', root);
  const built: unknown = JSON.parse(readFileSync(file, 'utf8'));
  expect(built).toEqual(readTables(fileURLToPath(new URL('src/attention/tables/', root))));
});
