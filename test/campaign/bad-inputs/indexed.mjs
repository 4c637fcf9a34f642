// A tree of two shards, indexed, and how it is asked.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export const goodQuestion = 'what counts the sentinels at the gate?';
export const goodReport = 'The gate does not open\nsentinel_count() says 2\n';

const plan = {
  shards: [
    { alias: 'gate', paths: ['src', 'docs'] },
    { alias: 'tower', paths: ['tower'] },
  ],
};

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
  const { code, output } = await at.index('--shards', file);
  at.claim('it was indexed', code === 0, output);
}

export const asking = (at, ...words) => ['ask', ...words, '--repo', at.root];
export const locating = (at, ...words) => ['locate', ...words, '--repo', at.root];
