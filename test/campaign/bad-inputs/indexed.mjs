// A tree of two shards, indexed with what reads questions by their meaning, and how it is asked.
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../bench/kernel/process.mjs';

export const goodQuestion = 'what counts the sentinels at the gate?';
export const goodReport = 'The gate does not open\nsentinel_count() says 2\n';

const plan = {
  shards: [
    { alias: 'gate', paths: ['src', 'docs'] },
    { alias: 'tower', paths: ['tower'] },
  ],
};
/** The table of the model, which takes seconds to make: all cases share it. */
const models = temporaryFolder('sigma-bad-models');

export async function indexed(at) {
  at.write({
    'docs/gate.md': '# Gate\n\nThe gate opens when a sentinel counts to three.\n',
    'tower/height.py':
      'def tower_height(stones):\n    """How high it is."""\n    return stones * 2\n',
  });
  at.commitAll();
  const file = path.join(at.folder, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  mkdirSync(at.home, { recursive: true });
  cpSync(models, path.join(at.home, 'models'), { recursive: true });
  const { code, output } = await at.index('--shards', file);
  at.claim('it was indexed', code === 0, output);
  const made = path.join(at.home, 'models');
  if (existsSync(made)) cpSync(made, models, { recursive: true });
}

export const asking = (at, ...words) => ['ask', ...words, '--repo', at.root];
export const locating = (at, ...words) => ['locate', ...words, '--repo', at.root];
