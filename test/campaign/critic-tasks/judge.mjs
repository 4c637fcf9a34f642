import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { modes } from '../../../dist/src/critic/modes.js';
import { modelServer } from '../queues/model.mjs';

/** So long that a process can be killed while a mode is under way. */
const delayMs = 150;

/** A ring in C: small, and enough to be right and wrong about. */
export function treeIn(root) {
  mkdirSync(root);
  writeFileSync(
    path.join(root, 'ring.c'),
    `#define RING_SLOTS 32

struct ring {
	int slots[RING_SLOTS];
	int head;
};

/** ring_put() - fills the next slot */
int ring_put(struct ring *ring, int value)
{
	ring->slots[ring->head] = value;
	ring->head = (ring->head + 1) % RING_SLOTS;
	return ring->head;
}
`,
  );
  writeFileSync(
    path.join(root, 'driver.c'),
    `int ring_put(struct ring *ring, int value);

/** driver_receive() - takes what the device has sent */
int driver_receive(struct ring *ring, int value)
{
	return ring_put(ring, value);
}
`,
  );
  return root;
}

const said = (slots) => `# The ring

## How many slots

\`RING_SLOTS\` is ${slots}. The ring has ${slots} slots, see \`ring.c:1\`.

## Who fills them

- \`ring_put\` in \`ring.c\` fills the next slot.
- \`driver_receive\` calls \`ring_put\`, see \`driver.c:6\`.

## What to do

1. Change \`RING_SLOTS\` in \`ring.c\` to have more slots.
2. Compile \`driver.c\` again after it.
`;

/** What the creator hands in. */
export const drafts = { wrong: said(64), right: said(32), short: 'The ring has 32 slots.\n' };

/** Words of both drafts: what a score above 0.90 rests on. */
const shown = ['fills the next slot', 'to have more slots', 'again after it'];

function answerOf(mode, shown, score) {
  return {
    sections: mode.sections.map((title) => ({ title, text: 'There is nothing to add.' })),
    findings: [],
    scores: (mode.dimensions ?? []).map(({ name }) => ({
      ...{ name, score, why: 'it is said where it stands', evidence: shown },
    })),
  };
}

/**
 * Rules of a model server that judges: `drafts` are words of a draft, with the score that it gets; `shown` are words that
 * stand in all of them.
 */
export function judgeRules(shown, drafts) {
  return [...modes].flatMap(([name, mode]) =>
    drafts.map(([words, score]) => ({
      match: `Review in the mode ${name}\\.[\\s\\S]*${words}`,
      answer: { text: JSON.stringify(answerOf(mode, shown, score)), delayMs },
    })),
  );
}

/** It likes both drafts, the right one better: what is wrong with the other one is for the rules to find. */
export async function judge() {
  const likes = [
    ['is 64', 0.8],
    ['', 0.95],
  ];
  const model = await modelServer(judgeRules(shown, likes));
  return {
    ...model,
    /** Which mode was asked about which draft, and in what words. */
    asked: async () =>
      (await model.requests()).map(({ body }) => {
        const text = body.messages.findLast(({ role }) => role === 'user').content;
        const [, mode] = /Review in the mode ([a-z-]+)\./.exec(text) ?? [];
        return { mode, draft: text.includes('is 64') ? 'wrong' : 'right', text };
      }),
  };
}
