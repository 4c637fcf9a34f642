import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { compiled } from '../../support/compiled.js';

/** A process that has stood still for so long does so for ever. */
const hungMs = 60_000;
const keys = 20_000;

test('keys are made also while garbage is collected', () => {
  const program = `
    import { newNkey } from '${compiled('src/config/nkey.ts').href}';
    const made = new Set();
    for (let count = 0; count < ${keys}; count += 1) made.add(newNkey().seed);
    process.stdout.write(String(made.size));`;
  // A small heap is collected often.
  const args = ['--max-semi-space-size=1', '--input-type=module', '--eval', program];
  const made = execFileSync(process.execPath, args, { timeout: hungMs, encoding: 'utf8' });
  expect(Number(made)).toBe(keys);
});
